// Runs of one mechanism in a WebAssembly module that liaison wrote. SI units throughout.
// Works as a plain script (page, Worker from a Blob: globalThis.liaison), in node and in bundlers.
(function (root) {
  "use strict";

  // What modules name by numbers: sentences, and fields of a run in the order of their places. `live_module` reads these
  // lists from here. FORMAT counts their changes.
  const FORMAT = 3;
  const SENTENCES = [
    "not finite",
    "the state is no longer finite after {now}.",
    "Loosen rtol and atol. Look at what grows there: forces that pump energy, a singular position, a collision.",
    "step too small",
    "the step became too small at {now}: the error stays too large.",
    "Look at what grows there: forces that pump energy, a singular position, a collision.",
    "projection lost",
    "projection lost after {now}: {row} cannot be brought below {size}.",
    "Loosen rtol and atol. The mechanism may be at the end of its range or in a singular position.",
    "projection lost after {now}: the rate of {row} stays at {size}.",
    "inconsistent closures",
    "no acceleration meets {row} after {now}: it misses by {size}.",
    "The closures contradict each other there; two motors may drive one degree of freedom.",
    "too many steps",
    "{steps} steps were not enough: {now} is reached.",
    "Raise max_steps.",
    "event chatter",
    "event '{event}' chatters at {now}: it fires at every step and time hardly advances.",
    "Give the event a direction, or its formula a dead band.",
    "inconsistent start",
    "the start does not hold: {row} is off by {size}.",
    "Bring it onto its closures first, with assemble.",
    "the start does not hold: the rate of {row} is off by {size}.",
    "event '{event}' has no value at {now}: its formula gives no number.",
    "Look at where the formulas are defined (a root of a negative number, 0/0), and for a mass or an inertia that is zero.",
    "Take a smaller step. Look at what grows there: forces that pump energy, a singular position, a collision.",
    "Take a smaller step. The mechanism may be at the end of its range or in a singular position.",
    "no configuration satisfies the closures near this start.",
    "The loops cannot close with these lengths and starts; change them back, or give a guess.",
    "the closures have no value near this start.",
    "Start from another position.",
    "the closures do not allow these speeds.",
    "Start with other speeds, or leave them out.",
    "the start lies beside a change point, where two branches of the motion cross.",
    "Start on the change point itself with the speeds of one branch, or farther off it.",
    "no mode",
    "no forces of what is closed fit the motion at {now}: closures or drives push against it, or its bodies differ too much in mass.",
    "Let the drive end before the stop, or a spring give way between them.",
    "the start does not hold: '{block}' is violated by {size} m.",
    "Start where nothing penetrates.",
    "the start does not hold: the rate of '{block}' is on the forbidden side by {size}.",
    "Start with velocities that it allows.",
    "singular mass matrix",
    "the mass matrix is singular at {now}: contacts do not determine its accelerations.",
    "Give mass or inertia to what moves by itself.",
    "standstill",
    "contacts open and close without end at {now}: time does not advance.",
    "Method 'moreau' with a fixed step passes such instants.",
    "step up",
    "what '{block}' touches jumps up by {size} m at {now}: its formula is no wall.",
    "Let it rise within a length, or give the wall a contact of its own.",
    "no forces of the contacts fit the motion at {now}: none that are closed, stick or slip under Coulomb's law (Painlevé).",
    "Smaller friction, or contacts that give way, have a solution there."
  ];
  const FIELDS = [
    "q", "v", "u", "p", "good", "t", "t_new", "t_start", "t_end", "t_base", "t_good", "t_refill", "step", "h_max", "rtol", "atol", "period", "worst",
    "records_steps", "records_end", "samples", "steps_allowed", "has_correct", "has_terms", "is_fresh", "detail", "steps", "rejected", "evaluations",
    "projections", "recorded", "event_count", "break_count", "breaks_passed", "point_count", "points_passed", "break_times", "corner_rows",
    "waypoints", "reach", "atols"
  ];
  const LEDGER = ["worst", "t_worst", "turned", "kinetic", "lowest", "highest", "doubt", "event"];
  const CODES = {"good": 0, "done": 1, "stopped": 2, "full": 4, "needs": 5, "instants": -3, "failed": 10, "degenerate": 8};

  class LiaisonError extends Error {
    constructor(message, hint, status) {
      super(hint ? `${message} ${hint}` : message);
      this.name = "LiaisonError";
      this.status = status || "argument";
      this.hint = hint || "";
    }
  }

  const finite = (x, what) => {
    if (!Number.isFinite(x)) throw new LiaisonError(`${what} is ${typeof x === "string" ? `'${x}'` : x}; it must be a finite number.`);
    return x;
  };

  const positive = (x, what) => {
    if (!(finite(x, what) > 0)) throw new LiaisonError(`${what} is ${x}; it must be positive.`);
    return x;
  };

  function checkNames(given, known, call) {
    for (const key of Object.keys(given)) {
      if (!known.includes(key)) throw new LiaisonError(`${call} has no option '${key}'.`, `It has: ${known.join(", ")}.`, "unknown name");
    }
  }

  const general = (x, digits) => String(Number(Number(x).toPrecision(digits)));

  /** Notes of a module with names in the place of numbers, and what they leave out because it is empty. */
  function notesOf(notes) {
    if (notes.format !== FORMAT) {
      throw new LiaisonError(`this module has notes of format ${notes.format ?? 1}; this script reads format ${FORMAT}.`,
        "Take the script of the version of liaison that wrote the module.");
    }
    const empty = { labels: {}, bounds: {}, parameters: [], inputs: [], driven: [], sides: null, events: [], blocks: [], whats: [], instants: null, ledger: null, step: null, every: null };
    const n = { ...empty, ...notes, codes: CODES };
    const said = (row) => row.map((x) => (typeof x === "number" ? SENTENCES[x] : x));
    const [base] = n.run;
    n.labels = { q: [], v: [], u: [], p: [], ...n.labels };
    n.at = Object.fromEntries(FIELDS.map((name, k) => [name, base + 8 * n.fields[k]]));
    if (n.ledger) {
      const [much, rounding, ...places] = n.ledger;
      n.ledger = { much, rounding, ...Object.fromEntries(LEDGER.map((name, k) => [name, base + 8 * places[k]])) };
    }
    n.ends = { texts: Object.fromEntries(Object.entries(n.ends.texts).map(([code, row]) => [code, said(row)])), rows: n.ends.rows };
    const [out, work] = n.area;
    const plain = (layout) => ({ layout, out, work, size: layout.reduce((sum, x) => sum + x[1], 0) });
    n.series = Object.fromEntries(Object.entries(n.series).map(([name, s]) => [name, Array.isArray(s) ? plain(s) : s]));
    if (n.assembly) {
      const at = Object.fromEntries(["q", "v", "u", "p", "held", "status"].map((name, k) => [name, n.assembly.at[k]]));
      n.assembly = { ...n.assembly, at, ends: n.assembly.ends.map(said) };
    }
    return n;
  }

  class Run {
    /** @param {WebAssembly.Module} module */
    constructor(module) {
      const section = WebAssembly.Module.customSections(module, "liaison")[0];
      if (!section) throw new LiaisonError("this module has no section 'liaison'.", "Take one that liaison wrote.");
      const n = (this.notes = notesOf(JSON.parse(new TextDecoder().decode(section))));
      this.exports = new WebAssembly.Instance(module, {}).exports;
      const buffer = this.exports.memory.buffer;
      this.floats = new Float64Array(buffer);
      this.ints = new BigInt64Array(buffer);
      this.blank = buffer.slice(0);
      this.width = 1 + n.sizes.nq + n.sizes.nv + n.sizes.nu;
      this.info = Object.freeze({
        name: n.name,
        coordinates: n.labels.q.map(([name, unit], k) => ({ name, unit, value: n.state.q[k] })),
        speeds: n.labels.v.map(([name, unit], k) => ({ name, unit, value: n.state.v[k] })),
        parameters: n.labels.p.map(([name, unit], k) => {
          const [low, high] = n.bounds[name] || [null, null];
          return { name, unit, value: n.parameters[k], low, high };
        }),
        inputs: n.labels.u.map(([name, unit], k) => ({ name, unit, value: n.inputs[k], driven: n.driven.includes(k) })),
        series: Object.keys(n.series),
        layout: Object.fromEntries(Object.entries(n.series).map(([name, s]) => [name, s.layout])),
        events: n.events,
        contacts: n.blocks,
        method: n.method,
        step: n.step,
        until: n.until,
        assembles: Boolean(n.assembly),
        curved: n.assembly ? n.assembly.curved : [],
      });
      this.start();
    }

    /** Compiles a module, from bytes or from what answers a request. */
    static async load(source) {
      const bytes = typeof Response !== "undefined" && source instanceof Response ? await source.arrayBuffer() : source;
      return new Run(await WebAssembly.compile(bytes));
    }

    // numbers in memory

    get(name) { return this.floats[this.notes.at[name] / 8]; }
    set(name, value) { this.floats[this.notes.at[name] / 8] = value; }
    count(name) { return Number(this.ints[this.notes.at[name] / 8]); }
    setCount(name, value) { this.ints[this.notes.at[name] / 8] = BigInt(value); }
    array(name, size) { const k = this.notes.at[name] / 8; return this.floats.subarray(k, k + size); }

    place(kind, name) {
      const k = this.notes.labels[kind].findIndex((label) => label[0] === name);
      if (k >= 0) return k;
      const what = { q: "coordinate", v: "speed", u: "input", p: "parameter" }[kind];
      const known = this.notes.labels[kind].map((label) => label[0]).join(", ");
      throw new LiaisonError(`there is no ${what} '${name}'.`, `There are: ${known || "none"}.`, "unknown name");
    }

    /** Everything in place for the first step of a run. */
    start(options = {}) {
      const n = this.notes, s = n.sizes;
      const known = ["parameters", "inputs", "state", "start", "guess", "near", "until", "step", "every", "rtol", "atol", "maxStep", "maxSteps"];
      checkNames(options, known, "start()");
      const p = this.parametersOf(options.parameters || {});
      const u = Float64Array.from(n.inputs);
      for (const [name, value] of Object.entries(options.inputs || {})) u[this.inputPlace(name)] = finite(value, `input '${name}'`);
      const state = this.stateOf(options, p, u);
      const t = finite(state.t ?? n.state.t, "the start");
      const end = finite(options.until ?? n.until, "until");
      if (end < t) throw new LiaisonError(`until is ${end} s: a run from ${t} s cannot end at ${end} s.`);
      this.checkSteps(options);
      this.restore();
      for (const name of ["t", "t_new", "t_start", "t_base", "t_good"]) this.set(name, t);
      this.set("t_end", end);
      this.array("p", p.length).set(p);
      this.array("u", u.length).set(u);
      this.array("q", s.nq).set(state.q);
      this.array("v", s.nv).set(state.v);
      this.array("good", s.nq + s.nv).set([...state.q, ...state.v]);
      this.chooseSteps(options);
      this.chooseRecording(options.every === undefined ? n.every : options.every, t, end);
      this.longest = options.maxStep === undefined ? this.get("h_max") : options.maxStep;
      this.loadInstants();
      this.rows = [];
      this.happened = [];
      this.switched = [];
      this.passed = this.touch = null;
      this.code = n.codes.good;
      return this.state();
    }

    restore() {
      const n = this.notes;
      for (const [address, words] of [n.run, ...(n.sides ? [n.sides] : [])]) {
        new Uint8Array(this.exports.memory.buffer, address, 8 * words).set(new Uint8Array(this.blank, address, 8 * words));
      }
      this.floats.fill(0, n.scratch[0] / 8, n.scratch[0] / 8 + n.scratch[1]);
    }

    parametersOf(changes) {
      const n = this.notes;
      const p = Float64Array.from(n.parameters);
      for (const [name, value] of Object.entries(changes)) {
        const k = this.place("p", name);
        p[k] = finite(value, `parameter '${name}'`);
        const [low, high] = n.bounds[name] || [null, null];
        const slack = 1e-12 * Math.abs(p[k]);
        if ((low !== null && p[k] < low - slack) || (high !== null && p[k] > high + slack)) {
          throw new LiaisonError(`parameter '${name}' is ${general(p[k], 6)}; it must be within its bounds ${low ?? "−∞"} … ${high ?? "∞"}.`);
        }
        if (p[k] !== n.parameters[k]) this.checkInstants(name);
      }
      return p;
    }

    checkInstants(name) {
      if (this.notes.instants && this.notes.instants.follow.includes(name)) {
        throw new LiaisonError(`'${name}' changes the instants at which laws of time jump or bend, which this module holds as numbers.`,
          "Write the module with this value.", "fixed instants");
      }
    }

    inputPlace(name) {
      const k = this.place("u", name);
      if (this.notes.driven.includes(k)) throw new LiaisonError(`the input '${name}' follows a formula in this module.`);
      this.checkInstants(name);
      return k;
    }

    stateOf(options, p, u) {
      const n = this.notes, s = n.sizes;
      if (options.state) {
        const { q, v } = options.state;
        if (q.length !== s.nq || v.length !== s.nv) throw new LiaisonError(`the state has ${q.length} and ${v.length} numbers; '${n.name}' has ${s.nq} and ${s.nv}.`);
        for (const x of [...q, ...v]) finite(x, "a number of the state");
        return options.state;
      }
      if (options.near) return this.follow(options.near, options.start || {}, p, u);
      const asked = options.start || options.guess;
      const isChanged = options.parameters && p.some((x, k) => x !== n.parameters[k]);
      if (!asked && !(isChanged && n.assembly && (s.nc || n.assembly.formulas))) return n.state;
      return this.assemble({ start: options.start, guess: options.guess, p, u });
    }

    /** The assembly mode near a position of the module's own parameters, carried along to others. */
    follow({ q, held }, start, p, u) {
      const n = this.notes, pieces = 8, own = this.ownStarts(Float64Array.from(n.parameters));
      const isSame = p.every((x, k) => x === n.parameters[k]) && !Object.keys(start).length;
      const between = (a, b, part) => (part === 1 ? b : a + part * (b - a));
      const first = (name) => {
        const k = n.labels.q.findIndex((label) => label[0] === name);
        return own[name] ?? (k >= 0 ? q[k] : 0);
      };
      try {
        let state = { q };
        for (let k = isSame ? pieces : 1; k <= pieces; k++) {
          const part = k / pieces;
          const some = Object.fromEntries(Object.entries(start).map(([name, x]) => [name, between(first(name), x, part)]));
          const there = p.map((x, j) => between(n.parameters[j], x, part));
          state = this.assemble({ start: some, p: there, u, near: { q: state.q, held } });
        }
        return state;
      } catch (error) {
        // speeds that contradict each other are no matter of the mode
        if (error.status !== "assembly" || error.hint === n.assembly.ends[2][1]) throw error;
        throw new LiaisonError("this assembly mode does not close with these lengths and starts.",
          "Choose another mode, or change them back.", "assembly");
      }
    }

    /** A state that satisfies the closures, near starts and guesses, or near a whole position with some of it held. */
    assemble({ start = {}, guess = {}, near = null, p, u }) {
      const n = this.notes, s = n.sizes, a = n.assembly;
      if (!a) throw new LiaisonError(`'${n.name}' starts only from states: its closures were completed.`, "Give a state.");
      const names = [...n.labels.q, ...n.labels.v].map((label) => label[0]);
      for (const [name, value] of Object.entries({ ...start, ...guess })) {
        if (!names.includes(name)) this.place(name.endsWith("'") ? "v" : "q", name);
        if (a.curved.includes(name)) throw new LiaisonError(`'${name}' is a part of an attitude.`, "Give a state with the whole attitude.");
        finite(value, `the start of '${name}'`);
      }
      const own = this.ownStarts(p);
      if (near) for (const name of Object.keys(own)) if (!near.held.includes(name.replace(/'$/, ""))) delete own[name];
      const values = { ...own, ...start, ...guess };
      const loose = new Set([...(near ? [] : a.guesses), ...Object.keys(guess)].filter((x) => !(x in start)));
      const held = new Set(Object.keys(values).filter((x) => !loose.has(x)));
      const firm = Object.keys(start).length ? new Set(Object.keys(start)) : held;
      const put = (address, numbers, into) => into.set(numbers, address / 8);
      const q = Float64Array.from(near ? near.q : a.q);
      n.labels.q.forEach(([name], k) => { if (name in values && !a.curved.includes(name)) q[k] = values[name]; });
      const v = [held, firm].flatMap((level) => n.labels.v.map(([name]) => (name in values && (level.has(name) || !held.has(name)) ? values[name] : 0)));
      const masks = [held, firm].map((level) => {
        const mask = new Array(s.nv).fill(0n);
        n.labels.q.forEach(([name], k) => { if (level.has(name)) for (const j of a.holds[k]) mask[j] = 1n; });
        return mask;
      });
      const speeds = [held, firm].map((level) => n.labels.v.map(([name]) => (level.has(name) ? 1n : 0n)));
      put(a.at.q, q, this.floats);
      put(a.at.v, v, this.floats);
      put(a.at.u, u, this.floats);
      put(a.at.p, p, this.floats);
      put(a.at.held, [...masks.flat(), ...speeds.flat()], this.ints);
      this.exports.assemble();
      const ended = Number(this.ints[a.at.status / 8]);
      if (ended) throw new LiaisonError(a.ends[ended - 1][0], a.ends[ended - 1][1], "assembly");
      const slice = (address, size) => this.floats.slice(address / 8, address / 8 + size);
      return { t: n.state.t, q: slice(a.at.q, s.nq), v: slice(a.at.v, s.nv) };
    }

    ownStarts(p) {
      const a = this.notes.assembly;
      const values = Object.fromEntries(a.own);
      if (a.formulas) {
        this.floats.set(p, a.at.p / 8);
        this.exports.starts(0, a.at.q, a.at.v, a.at.u, a.at.p, a.at.q, a.formulas.out, a.formulas.work);
        a.formulas.labels.forEach((name, k) => { values[name] = this.floats[a.formulas.out / 8 + k]; });
      }
      return values;
    }

    /** Before anything changes: the run that goes on stays where options are wrong. */
    checkSteps(options) {
      const isFixed = this.notes.step !== null;
      if (options.step !== undefined && !isFixed) throw new LiaisonError("this module chooses its steps itself.", "Set rtol and atol, or write it with a step.");
      for (const name of ["rtol", "atol"]) {
        if (options[name] !== undefined && isFixed) throw new LiaisonError(`this module has a fixed step: it has no ${name}.`);
      }
      for (const name of ["step", "rtol", "atol", "every", "maxStep", "maxSteps"]) {
        if (options[name] !== undefined && !(name === "every" && options.every === null)) positive(options[name], name);
      }
    }

    chooseSteps({ step, rtol, atol, maxSteps }) {
      if (step !== undefined) this.set("step", step);
      if (rtol !== undefined) this.set("rtol", rtol);
      if (atol !== undefined) {
        this.set("atol", atol);
        this.array("atols", 2 * this.notes.sizes.nv).fill(atol);
      }
      if (maxSteps !== undefined) this.setCount("steps_allowed", Math.ceil(maxSteps));
    }

    chooseRecording(every, t, end) {
      if (every === null) {
        this.set("period", 0);
        this.setCount("samples", 0);
        this.setCount("records_steps", 1);
      } else {
        this.set("period", every);
        this.setCount("samples", Math.floor(((end - t) / every) * (1 + 1e-12)) + 1);
        this.setCount("records_steps", 0);
      }
      this.setCount("records_end", 1);
    }

    /** The instants that come next, at which steps end because of the time alone. */
    loadInstants() {
      const known = this.notes.instants;
      if (!known) {
        this.set("h_max", this.longest);
        return;
      }
      const t = this.get("t"), { breaks, rows, waypoints, reach, room } = known;
      this.set("h_max", Math.min(this.longest, known.longest ?? Infinity));
      this.set("t_refill", Infinity);
      let k = breaks.findIndex((x) => x >= t);
      k = k < 0 ? breaks.length : k;
      let j = waypoints.findIndex((x) => x > t);
      j = Math.max((j < 0 ? waypoints.length : j) - 1, 0);
      const hand = breaks.slice(k, k + room), seen = waypoints.slice(j, j + room);
      this.array("break_times", room).set(hand);
      this.array("corner_rows", room).set(rows.slice(k, k + room));
      this.array("waypoints", room).set(seen);
      this.array("reach", room).set(reach.slice(j, j + room).map((x) => x ?? Infinity));
      this.setCount("breaks_passed", 0);
      this.setCount("points_passed", 0);
      this.setCount("break_count", hand.length);
      this.setCount("point_count", this.notes.step === null ? seen.length : 0);
      let refill = Infinity;
      if (breaks.length - k > hand.length) refill = Math.min(refill, hand[hand.length - 2]);
      if (waypoints.length - j > seen.length) refill = Math.min(refill, seen[seen.length - 1]);
      this.set("t_refill", refill);
    }

    /** Holds an input at another value from now on. */
    setInput(name, value) {
      this.floats[this.notes.at.u / 8 + this.inputPlace(name)] = finite(value, `input '${name}'`);
      this.setCount("is_fresh", 0);
      // the power of loads jumps: the balance of energy begins anew, as at a controller
      const at = this.notes.ledger && this.notes.ledger.event / 8;
      if (at && this.ints[at] < 1n) this.ints[at] = 1n;
    }

    // going on

    /** Goes on until a time is reached or passed, so many steps or milliseconds are spent, or the run ends. */
    advance(budget = {}) {
      checkNames(budget, ["until", "steps", "milliseconds"], "advance()");
      let { until = Infinity, steps = Infinity, milliseconds = Infinity } = budget;
      for (const [name, value] of Object.entries({ until, steps, milliseconds })) {
        if (typeof value !== "number" || Number.isNaN(value)) throw new LiaisonError(`${name} is ${value}; it must be a number.`);
      }
      if (steps !== Infinity && !(Number.isInteger(steps) && steps >= 0)) throw new LiaisonError(`steps is ${steps}; it must be a whole number, 0 or more.`);
      const n = this.notes, c = n.codes;
      const clock = milliseconds === Infinity ? null : performance.now() + milliseconds;
      const tries = until === Infinity ? 64 : 1;
      while (!this.isOver && steps > 0 && (until === Infinity || this.get("t") < until)) {
        const now = Math.min(tries, steps);
        this.code = Number(this.exports.march(BigInt(now)));
        if (this.code === c.good) steps -= now;
        else if (this.code === c.full) this.drain();
        else if (this.code === c.instants) this.loadInstants();
        else if (this.code >= c.needs && this.code <= c.needs + 2) this.permit(this.code - c.needs);
        if (clock !== null && performance.now() >= clock) break;
      }
      this.drain();
      return this.status();
    }

    /** An entry that a step needs now: corrections of positions, of velocities, or the terms. */
    permit(which) {
      if (which === 2) this.setCount("has_terms", 1);
      else this.ints[this.notes.at.has_correct / 8 + which] = 1n;
    }

    get isOver() {
      const c = this.notes.codes;
      return this.code === c.done || this.code === c.stopped || this.code === c.degenerate || this.code >= c.failed;
    }

    drain() {
      const n = this.notes, count = this.count("recorded"), logged = this.count("event_count");
      if (count) {
        const first = n.records[0] / 8;
        this.rows.push(this.floats.slice(first, first + count * this.width));
        this.setCount("recorded", 0);
      }
      const [address, words] = n.log;
      for (let k = 0; k < logged; k++) this.happened.push(this.eventAt(address / 8 + k * words));
      if (logged) this.setCount("event_count", 0);
    }

    eventAt(first) {
      const n = this.notes, what = Number(this.ints[first]), which = Number(this.ints[first + 1]);
      const t = this.floats[first + 3], start = first + n.log[2];
      const q = this.floats.slice(start, start + n.sizes.nq);
      const v = this.floats.slice(start + n.sizes.nq, start + n.sizes.nq + n.sizes.nv);
      if (what === -2) return null;
      if (what === -1) return { t, what: "event", name: n.events[which], q, v };
      if (what === -3) return { t, what: "jump", name: n.ends.rows[which] ?? "", q, v };
      if (n.touching) this.switched.push([t, which, what]);
      return { t, what: n.whats[what], name: n.blocks[which] ?? "", q, v };
    }

    /** How the balance of energy stands [J], how well its work is known, and since when it is off most; null if it is not kept. */
    energyBalance() {
      const at = this.notes.ledger;
      if (!at) return null;
      const [missed, when, turned, kinetic, low, high, doubt] = LEDGER.slice(0, -1).map(name => this.floats[at[name] / 8]);
      const turnedOver = kinetic + high - low + turned, size = kinetic + Math.max(Math.abs(low), Math.abs(high));
      const rounding = at.rounding * (this.count("steps") + 1) * size;
      return { missed, doubt, at: when, turnedOver, isOff: !(missed <= at.much * turnedOver + rounding) };
    }

    /** How the run stands, in the words of the command line. */
    status() {
      const status = this.outcome(), energy = this.energyBalance();
      const ended = status.status === "done" || status.status === "stopped";
      if (!ended || !energy || !energy.isOff) return { ...status, energy };
      const part = general(100 * energy.missed / energy.turnedOver, 3);
      const message = `the balance of energy is off by ${general(energy.missed, 3)} J (${part} % of what is turned over), ` +
        `most at t = ${general(energy.at, 6)} s; ${status.message}`;
      return { ...status, status: "suspect", message, hint: "Take shorter steps, or tighter tolerances.", energy };
    }

    outcome() {
      const n = this.notes, c = n.codes, t = this.get("t_good");
      const now = `t = ${general(t, 9)} s`;
      const counts = { steps: this.count("steps"), rejected: this.count("rejected"), evaluations: this.count("evaluations"), projections: this.count("projections") };
      if (this.code === c.stopped) return { status: "stopped", t, reason: "", message: `stopped by an event at ${now}.`, hint: "", ...counts };
      if (this.code === c.done) return { status: "done", t, reason: "", message: `reached ${now}.`, hint: "", ...counts };
      if (!this.isOver) return { status: "running", t, reason: "", message: `under way at ${now}.`, hint: "", ...counts };
      const k = this.count("detail");
      const [reason, text, hint] = n.ends.texts[this.code] || ["failed", `the run ended with status ${this.code} at {now}.`, ""];
      const row = n.ends.rows[k] === undefined ? (k >= 0 ? `closure row ${k + 1}` : "the closures") : `closure row '${n.ends.rows[k]}'`;
      const message = text.replace("{now}", now).replace("{row}", row).replace("{size}", general(this.get("worst"), 3))
        .replace("{event}", n.events[k] ?? n.blocks[k - n.events.length] ?? "").replace("{block}", n.blocks[k] ?? "").replace("{steps}", counts.steps);
      return { status: "failed", t, reason, message, hint, ...counts };
    }

    /** The last good state. */
    state() {
      const { nq, nv } = this.notes.sizes, good = this.array("good", nq + nv);
      return { t: this.get("t_good"), q: good.slice(0, nq), v: good.slice(nq) };
    }

    // results

    /** Recorded states since the last call. */
    take() {
      const { nq, nv, nu } = this.notes.sizes, w = this.width;
      const count = this.rows.reduce((sum, rows) => sum + rows.length / w, 0);
      const t = new Float64Array(count), q = new Float64Array(count * nq), v = new Float64Array(count * nv), u = new Float64Array(count * nu);
      let k = 0;
      for (const rows of this.rows) {
        for (let at = 0; at < rows.length; at += w, k++) {
          t[k] = rows[at];
          q.set(rows.subarray(at + 1, at + 1 + nq), k * nq);
          v.set(rows.subarray(at + 1 + nq, at + 1 + nq + nv), k * nv);
          u.set(rows.subarray(at + 1 + nq + nv, at + w), k * nu);
        }
      }
      this.rows = [];
      return { count, t, q, v, u };
    }

    /** Events since the last call, by time. */
    takeEvents() {
      const events = this.happened.filter((x) => x !== null);
      this.happened = [];
      return events.sort((x, y) => x.t - y.t);
    }

    /** Modes of contacts at recorded states, and what follows from them: gaps, rates, forces, efforts, accelerations. */
    touched(rows) {
      if (this.touch && this.touch.rows === rows) return this.touch;
      const n = this.notes, c = n.touching, { nq, nv, nu } = n.sizes, size = 2 * (c.nb + c.nr + nv);
      const modes = this.modesAlong(rows.t), out = new Float64Array(rows.count * size), at = c.table / 8;
      const sides = new Uint8Array(this.exports.memory.buffer, n.sides[0], 8 * n.sides[1]), kept = sides.slice();
      for (let k = 0; k < rows.count; k++) {
        this.floats[at] = rows.t[k];
        this.floats.set(rows.q.subarray(k * nq, (k + 1) * nq), at + 1);
        this.floats.set(rows.v.subarray(k * nv, (k + 1) * nv), at + 1 + nq);
        this.floats.set(rows.u.subarray(k * nu, (k + 1) * nu), at + 1 + nq + nv);
        for (let b = 0; b < c.nb; b++) this.ints[c.modes / 8 + b] = BigInt(modes[k * c.nb + b]);
        this.exports.touch();
        out.set(this.floats.subarray(c.out / 8, c.out / 8 + size), k * size);
      }
      sides.set(kept);
      return (this.touch = { rows, modes, out, size });
    }

    /** The mode of every block at instants that follow those of the last call: changes are noted as they happen. */
    modesAlong(t) {
      const c = this.notes.touching, modes = new Float64Array(t.length * c.nb);
      if (!this.passed || t[0] < this.passed.last) {
        const first = Array.from(this.ints.subarray(c.start / 8, c.start / 8 + c.nb), Number);
        this.passed = { next: 0, now: first, last: NaN };
      }
      const passed = this.passed;
      t.forEach((instant, i) => {
        const near = instant + c.time + c.part * Math.abs(instant), again = passed.last === instant;
        for (; passed.next < this.switched.length; passed.next++) {
          const [when, block, what] = this.switched[passed.next];
          const isPast = when < instant || (again && when === instant) || (c.lets.includes(what) && when > instant && when <= near);
          if (!isPast) break;
          passed.now[block] = c.after[what] ?? passed.now[block];
        }
        modes.set(passed.now, i * c.nb);
        passed.last = instant;
      });
      return modes;
    }

    /** What reactions beside contacts follow from: accelerations, multipliers of closures, forces of contacts. */
    acting(rows, k) {
      const n = this.notes, c = n.touching, { nv, nc } = n.sizes, { out, size } = this.touched(rows);
      const row = out.subarray(k * size, (k + 1) * size), effort = c.nb + 2 * c.nr;
      const lam = [];
      if (c.saddle) {
        this.exports.terms(rows.t[k], n.point.q, n.point.v, n.point.u, n.at.p, n.point.x, c.saddle.out, c.saddle.work);
        for (let j = 0; j < nv; j++) this.floats[c.saddle.out / 8 + c.saddle.f + j] += row[effort + j];
        this.exports.saddle();
        lam.push(...this.floats.subarray(c.saddle.solved / 8 + nv, c.saddle.solved / 8 + nv + nc));
      }
      return [...row.subarray(effort + nv, effort + 2 * nv), ...lam, ...row.subarray(c.nb + c.nr, effort)];
    }

    /** A series of contacts: numbers picked from what follows from modes, or the modes. */
    picked(s, rows) {
      const { modes, out, size } = this.touched(rows), values = new Float64Array(rows.count * s.size);
      for (let k = 0; k < rows.count; k++)
        for (let j = 0; j < s.size; j++) values[k * s.size + j] = s.picks ? s.signs[j] * out[k * size + s.picks[j]] : modes[k * s.size + j];
      return values;
    }

    /** A series at recorded states, row by row. */
    series(name, rows) {
      const n = this.notes, s = n.series[name], { nq, nv, nc, nu } = n.sizes;
      if (!s) throw new LiaisonError(`this module has no series '${name}'.`, `It has: ${Object.keys(n.series).join(", ")}.`, "unknown name");
      if (s.signs) return this.picked(s, rows);
      const out = new Float64Array(rows.count * s.size), area = n.point;
      for (let k = 0; k < rows.count; k++) {
        this.floats.set(rows.q.subarray(k * nq, (k + 1) * nq), area.q / 8);
        this.floats.set(rows.v.subarray(k * nv, (k + 1) * nv), area.v / 8);
        this.floats.set(rows.u.subarray(k * nu, (k + 1) * nu), area.u / 8);
        const call = (entry) => this.exports[entry](rows.t[k], area.q, area.v, area.u, n.at.p, area.x, s.out, s.work);
        if (name === "reactions" && n.touching) this.floats.set(this.acting(rows, k), area.x / 8);
        else if (name === "reactions") {
          call("forward");
          this.floats.copyWithin(area.x / 8, s.out / 8, s.out / 8 + nv + nc);
        }
        call(s.entry ?? name);
        out.set(this.floats.subarray(s.out / 8, s.out / 8 + s.size), k * s.size);
      }
      return out;
    }
  }

  // written out, since node looks for these names when a module imports the script
  if (typeof module !== "undefined" && module.exports) module.exports = { Run, LiaisonError };
  else root.liaison = { Run, LiaisonError };
})(typeof globalThis !== "undefined" ? globalThis : this);
