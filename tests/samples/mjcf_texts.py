"""Models in MJCF, for the reader's own tests and for the comparison with MuJoCo."""

ARM = """<mujoco model="arm">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0 0.3 -9.81" timestep="0.01"/>
  <default><joint axis="0 1 0" damping="0.1"/><geom density="700"/>
    <default class="heavy"><geom density="2000" type="box"/></default></default>
  <worldbody><light pos="0 0 3"/><geom type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 1" euler="30 20 10">
      <joint name="j1"/><joint name="j2" axis="1 0.2 0" pos="0 0.1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0.1 0"/>
      <geom class="heavy" size="0.1 0.05 0.02" pos="0.1 0 0" quat="0.9 0.1 0.2 0.3"/>
      <body name="b" pos="0.3 0.1 0" axisangle="0 0 1 45">
        <joint name="j3" type="slide" axis="1 1 0" range="-1 1"/>
        <geom type="cylinder" size="0.04 0.2"/>
        <geom type="ellipsoid" size="0.1 0.2 0.05" mass="0.4"/>
        <body name="c" pos="0 0 0.2" xyaxes="0 1 0 -1 0 0.1">
          <joint name="ball" type="ball" pos="0 0 0.05"/>
          <inertial pos="0.01 0.02 0.03" quat="0.5 0.5 0.5 0.5" mass="0.7"
                    diaginertia="0.01 0.02 0.015"/>
        </body>
      </body>
    </body>
    <body name="f" pos="1 2 3" zaxis="1 1 1"><freejoint name="free"/><geom size="0.1"/></body>
  </worldbody>
  <actuator><motor joint="j1"/></actuator>
</mujoco>"""

FIXED_AXES = ARM.replace('eulerseq="zyx"', 'eulerseq="XYZ"').replace(
    'angle="degree"', 'angle="radian"'
)
FULL = ARM.replace(
    'diaginertia="0.01 0.02 0.015"', 'fullinertia="0.01 0.02 0.015 0.001 0.002 -0.001"'
).replace('quat="0.5 0.5 0.5 0.5" ', "")

LOOP = """<mujoco model="loop">
  <compiler angle="radian"/>
  <worldbody>
    <body name="crank"><joint name="A" axis="0 1 0"/>
      <geom type="box" size="0.1 0.01 0.01" pos="0.1 0 0"/>
      <body name="rod" pos="0.2 0 0"><joint name="B" axis="0 1 0"/>
        <geom type="box" size="0.2 0.01 0.01" pos="0.2 0 0"/></body></body>
    <body name="slider" pos="0.6 0 0">
      <joint name="C" type="slide" axis="1 0 0" stiffness="3" springref="0.1"/>
      <geom size="0.05"/></body>
    <body name="gear" pos="0 1 0"><joint name="D" axis="0 1 0" frictionloss="0.5"/>
      <geom size="0.05"/></body>
    <body name="plate" pos="0 1 1" euler="0 0 1.5707963267948966"><freejoint name="F"/>
      <geom size="0.05"/></body>
  </worldbody>
  <equality>
    <connect name="pin" body1="rod" body2="slider" anchor="0.4 0 0"/>
    <joint name="gears" joint1="D" joint2="A" polycoef="0.1 -2 0 0 0"/>
    <joint name="cam" joint1="C" joint2="D" polycoef="0 1 3 0 0"/>
    <weld name="glue" body1="plate" body2="gear"/>
    <weld body1="plate" body2="gear" active="false"/>
  </equality>
</mujoco>"""
