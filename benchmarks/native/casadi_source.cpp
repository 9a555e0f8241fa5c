// Pinocchio over casadi::SX: writes rnea, crba and aba of a model as C.
//
//   casadi_source MODEL.txt OUT.c
#include <pinocchio/autodiff/casadi.hpp>

#include <fstream>
#include <iostream>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "model_text.hpp"

namespace pin = pinocchio;
using casadi::SX;
using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;

static Vector entries(const SX& column) {
  Vector out(column.size1());
  for (int i = 0; i < out.size(); ++i) out[i] = column(i);
  return out;
}

template <typename M>
static SX column(const M& values) {
  SX out(values.size(), 1);
  for (int i = 0; i < values.size(); ++i) out(i) = values(i % values.rows(), i / values.rows());
  return out;
}

int main(int, char** argv) {
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  pin::ModelTpl<SX> model;
  read_model<SX>(text.str().c_str(), model, [](std::istream&) {});
  pin::DataTpl<SX> data(model);
  const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), x = SX::sym("x", model.nv);
  const Vector qe = entries(q), ve = entries(v), xe = entries(x);

  const SX tau = column(pin::rnea(model, data, qe, ve, xe));
  data.M.setZero();
  pin::crba(model, data, qe, pin::Convention::LOCAL);
  data.M.template triangularView<Eigen::StrictlyLower>() =
      data.M.transpose().template triangularView<Eigen::StrictlyLower>();
  const SX mass = column(data.M);
  const SX local = column(pin::aba(model, data, qe, ve, xe, pin::Convention::LOCAL));
  const SX world = column(pin::aba(model, data, qe, ve, xe, pin::Convention::WORLD));

  casadi::CodeGenerator code("casadi_code");
  const std::pair<const char*, SX> wanted[] = {
      {"rnea", tau}, {"crba", mass}, {"aba_local", local}, {"aba_world", world}};
  for (const auto& [name, value] : wanted) {
    const std::string shared = std::string(name) + "_cse";
    for (const auto& f : {casadi::Function(name, {q, v, x}, {value}),
                          casadi::Function(shared, {q, v, x}, {value}, {{"cse", true}})}) {
      std::cout << f.name() << " " << f.n_instructions() << "\n";
      code.add(f);
    }
  }
  std::ofstream(argv[2]) << code.dump();
}
