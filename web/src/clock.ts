// The one time of a page: what is shown in 3D, on the time line and in the curves.

export class Clock {
  time: number;
  playing = false;
  loop = true;
  /** Of a run that goes on: time waits at its end until there is more. */
  isLive = false;
  private heard: (() => void)[] = [];
  private acted: (() => void)[] = [];

  constructor(
    public begin: number,
    public end: number,
    public speed: number,
  ) {
    this.time = begin;
  }

  /** Called after every change. */
  onChange(act: () => void): void {
    this.heard.push(act);
  }

  /** Called after what a hand did: not while time runs by itself. */
  onAct(act: () => void): void {
    this.acted.push(act);
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, this.begin), this.end);
    this.changed(true);
  }

  /** Takes over a state from elsewhere. */
  take(state: { time: number; playing: boolean; speed: number }): void {
    this.time = Math.min(Math.max(state.time, this.begin), this.end);
    this.playing = state.playing;
    this.speed = state.speed;
    this.changed(false);
  }

  setPlaying(playing: boolean): void {
    this.playing = playing && (this.isLive || this.end > this.begin);
    if (this.playing && !this.isLive && this.time >= this.end) this.time = this.begin;
    this.changed(true);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed(true);
  }

  /** Goes on by so many seconds of the viewer. */
  tick(seconds: number): void {
    if (!this.playing) return;
    let later = this.time + seconds * this.speed;
    if (later > this.end) {
      if (this.isLive) later = this.end;
      else if (this.loop) later = this.begin + ((later - this.begin) % (this.end - this.begin));
      else {
        later = this.end;
        this.playing = false;
      }
    }
    this.time = later;
    this.changed(false);
  }

  private changed(byHand: boolean): void {
    for (const act of this.heard) act();
    if (byHand) for (const act of this.acted) act();
  }
}

/** The last place whose time is not after t, and how far t is from it to the next (0 to 1). */
export function placeOf(times: Float64Array, t: number): [number, number] {
  let low = 0;
  let high = times.length - 1;
  if (high <= 0 || t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  const gap = times[high] - times[low];
  return [low, gap > 0 ? (t - times[low]) / gap : 0];
}
