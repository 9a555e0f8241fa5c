// A page that is served: follows the time of its server, and sends back what a hand does.
import type { Clock } from "./clock";

interface State {
  serial: number;
  time: number;
  playing: boolean;
  speed: number;
}

/** Follows the state at an address until the server is gone. */
export async function followed(clock: Clock, address: string, gone: () => void): Promise<void> {
  let serial = -1;
  let waiting = 0;
  clock.onAct(() => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(async () => {
      const sent = { time: clock.time, playing: clock.playing, speed: clock.speed };
      const answer = await fetch(address, { method: "POST", body: JSON.stringify(sent) }).catch(() => null);
      if (answer?.ok) serial = ((await answer.json()) as State).serial;
    }, 30);
  });
  for (;;) {
    const answer = await fetch(`${address}?after=${serial}`, { cache: "no-store" }).catch(() => null);
    if (!answer?.ok) return gone();
    const state = (await answer.json()) as State;
    if (state.serial > serial) {
      serial = state.serial;
      clock.take(state);
    }
  }
}
