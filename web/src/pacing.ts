// One picture at a time: the next is drawn when the graphics processor is done with the last, so that
// the page never waits for it. Browsers without a graphics processor read a picture back at the end of
// the task that drew it, and wait until it is computed: there pictures are drawn on a canvas aside, and
// shown when they are done.

const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/** Whether pictures are computed without a graphics processor. */
export function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const known = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(known ? known.UNMASKED_RENDERER_WEBGL : gl.RENDERER) as string;
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}

export class Pacing {
  /** Pictures that were begun, and that are done. */
  begun = 0;
  done = 0;
  private fence: WebGLSync | null = null;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    /** Where pictures that are done are shown; null: where they are drawn. */
    private readonly shown: HTMLCanvasElement | null,
  ) {}

  /** Whether the last picture is done; it is shown then. */
  isFree(): boolean {
    const { gl, fence } = this;
    if (!fence) return true;
    if (!gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) return false;
    gl.deleteSync(fence);
    this.fence = null;
    this.done = this.begun;
    this.show();
    return true;
  }

  /** After a picture was drawn. */
  drawn(): void {
    this.begun += 1;
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }

  private show(): void {
    const { shown } = this;
    const { canvas } = this.gl;
    const pen = shown?.getContext("2d");
    if (!shown || !pen || !canvas.width || !canvas.height) return;
    // a canvas of another size is empty at once, and one of the same size is emptied here
    if (shown.width !== canvas.width || shown.height !== canvas.height)
      [shown.width, shown.height] = [canvas.width, canvas.height];
    else pen.clearRect(0, 0, shown.width, shown.height);
    pen.drawImage(canvas, 0, 0);
  }
}
