// A model written as text by peers_native.py, read into Pinocchio with any scalar.
//
//   gravity x y z
//   joint PARENT TYPE r11 .. r33 x y z  mass cx cy cz i11 .. i33
//   tie JOINT r11 .. r33 x y z  JOINT r11 .. r33 x y z
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include <pinocchio/multibody.hpp>

template <typename S>
pinocchio::SE3Tpl<S> read_pose(std::istream& in) {
  pinocchio::SE3Tpl<double> pose;
  for (int i = 0; i < 9; ++i) in >> pose.rotation()(i / 3, i % 3);
  for (int i = 0; i < 3; ++i) in >> pose.translation()[i];
  return pose.cast<S>();
}

template <typename S>
pinocchio::InertiaTpl<S> read_inertia(std::istream& in) {
  double mass;
  Eigen::Vector3d center;
  Eigen::Matrix3d tensor;
  in >> mass >> center[0] >> center[1] >> center[2];
  for (int i = 0; i < 9; ++i) in >> tensor(i / 3, i % 3);
  return pinocchio::InertiaTpl<double>(mass, center, tensor).cast<S>();
}

template <typename S, int A>
using Turn = pinocchio::JointModelRevoluteTpl<S, 0, A>;
template <typename S, int A>
using Slide = pinocchio::JointModelPrismaticTpl<S, 0, A>;

template <typename S>
typename pinocchio::ModelTpl<S>::JointModel joint_of(const std::string& type) {
  if (type == "JointModelRX") return Turn<S, 0>();
  if (type == "JointModelRY") return Turn<S, 1>();
  if (type == "JointModelRZ") return Turn<S, 2>();
  if (type == "JointModelPX") return Slide<S, 0>();
  if (type == "JointModelPY") return Slide<S, 1>();
  if (type == "JointModelPZ") return Slide<S, 2>();
  if (type == "JointModelFreeFlyer") return pinocchio::JointModelFreeFlyerTpl<S>();
  throw std::runtime_error("no joint type " + type);
}

// Reads all but ties; `tie` is called with the rest of each such line.
template <typename S, typename F>
void read_model(const char* text, pinocchio::ModelTpl<S>& model, F tie) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string kind, type;
    in >> kind;
    if (kind == "gravity") {
      double g[3];
      in >> g[0] >> g[1] >> g[2];
      for (int i = 0; i < 3; ++i) model.gravity.linear()[i] = S(g[i]);
    } else if (kind == "joint") {
      int parent;
      in >> parent >> type;
      const auto place = read_pose<S>(in);
      const auto id = model.addJoint(
          parent, joint_of<S>(type), place, "j" + std::to_string(model.njoints));
      model.appendBodyToJoint(id, read_inertia<S>(in), pinocchio::SE3Tpl<S>::Identity());
    } else if (kind == "tie") {
      tie(in);
    }
  }
}
