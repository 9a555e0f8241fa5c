"""Calls that a type checker must take or refuse: `make lint` reads them, nothing runs them.

An ignored error that is no error is one itself under mypy's strict mode, so each line below
that is marked holds only as long as the misspelt option is refused.
"""

import liaison

liaison.simulate("pendulum.lsd", until=1, every=0.1)
liaison.simulate_batch("pendulum.lsd", until=1, every=0.1)
liaison.verify("pendulum.lsd", until=1, every=0.1)
liaison.RunOptions(every=0.1)

liaison.simulate("pendulum.lsd", until="1 s", every="10 ms", start={"A": "40 deg"})
liaison.simulate_batch("pendulum.lsd", until="1 s", parameters={"m": ["250 g", "1 kg"]})
liaison.mass_matrix("pendulum.lsd", {"A": "40 deg"}, t="1 s")
liaison.body("crank", mass="250 g", center=("1 cm", 0, 0))
liaison.RunOptions(every="10 ms", time_limit="1 min")

liaison.simulate("pendulum.lsd", until=1, evry=0.1)  # type: ignore[call-arg]
liaison.simulate_batch("pendulum.lsd", until=1, evry=0.1)  # type: ignore[call-arg]
liaison.verify("pendulum.lsd", until=1, evry=0.1)  # type: ignore[call-arg]
liaison.RunOptions(evry=0.1)  # type: ignore[call-arg]
liaison.simulate("pendulum.lsd", until=["1 s"])  # type: ignore[arg-type]
