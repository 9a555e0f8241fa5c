// Pinocchio in a C++ loop: `run` calls an algorithm n times over 64 states in turn.
//
// Header-only build with the options of peers_native.py; called through ctypes.
#include <memory>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "model_text.hpp"

namespace pin = pinocchio;

struct Peer {
  pin::Model model;
  std::unique_ptr<pin::Data> data;
  std::vector<pin::RigidConstraintModel> ties;
  std::vector<pin::RigidConstraintData> held;
  pin::ProximalSettings settings{1e-12, 1e-8, 20};
};

enum Algorithm { RNEA, CRBA_LOCAL, CRBA_WORLD, ABA_LOCAL, ABA_WORLD, DABA, CONSTRAINED };

static void call(Peer& p, int algorithm, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                 const Eigen::VectorXd& x) {
  switch (algorithm) {
    case RNEA: pin::rnea(p.model, *p.data, q, v, x); break;
    case CRBA_LOCAL: pin::crba(p.model, *p.data, q, pin::Convention::LOCAL); break;
    case CRBA_WORLD: pin::crba(p.model, *p.data, q, pin::Convention::WORLD); break;
    case ABA_LOCAL: pin::aba(p.model, *p.data, q, v, x, pin::Convention::LOCAL); break;
    case ABA_WORLD: pin::aba(p.model, *p.data, q, v, x, pin::Convention::WORLD); break;
    case DABA: pin::computeABADerivatives(p.model, *p.data, q, v, x); break;
    case CONSTRAINED:
      pin::constraintDynamics(p.model, *p.data, q, v, x, p.ties, p.held, p.settings);
      break;
  }
}

extern "C" {

Peer* make(const char* text) {
  auto* p = new Peer;
  std::vector<std::string> lines;
  read_model(text, p->model, [&](std::istream& in) {
    std::string line;
    std::getline(in, line);
    lines.push_back(line);
  });
  for (const auto& line : lines) {
    std::istringstream in(line);
    int one, two;
    in >> one;
    const auto first = read_pose<double>(in);
    in >> two;
    const auto second = read_pose<double>(in);
    p->ties.emplace_back(pin::CONTACT_3D, p->model, one, first, two, second);
  }
  for (const auto& tie : p->ties) p->held.emplace_back(tie);
  p->data = std::make_unique<pin::Data>(p->model);
  pin::initConstraintDynamics(p->model, *p->data, p->ties, p->held);
  return p;
}

// n calls over `states` rows of q, v and x in turn
void run(Peer* p, int algorithm, int n, int states, const double* q, const double* v,
         const double* x) {
  std::vector<Eigen::VectorXd> qs, vs, xs;
  for (int i = 0; i < states; ++i) {
    qs.push_back(Eigen::Map<const Eigen::VectorXd>(q + i * p->model.nq, p->model.nq));
    vs.push_back(Eigen::Map<const Eigen::VectorXd>(v + i * p->model.nv, p->model.nv));
    xs.push_back(Eigen::Map<const Eigen::VectorXd>(x + i * p->model.nv, p->model.nv));
  }
  for (int i = 0, k = 0; i < n; ++i) {
    call(*p, algorithm, qs[k], vs[k], xs[k]);
    if (++k == states) k = 0;
  }
}

// what the last call left: torques, accelerations, the upper triangle of M, d(vdot)/dq
const double* result(Peer* p, int algorithm) {
  switch (algorithm) {
    case RNEA: return p->data->tau.data();
    case CRBA_LOCAL: case CRBA_WORLD: return p->data->M.data();
    case DABA: return p->data->ddq_dq.data();
    default: return p->data->ddq.data();
  }
}

}
