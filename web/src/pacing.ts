// One picture at a time: the next is drawn when the graphics processor is done with the last, so that
// the page never waits for it.

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
  private fence: WebGLSync | null = null;

  constructor(private readonly gl: WebGL2RenderingContext) {}

  /** Whether the last picture is done. */
  isFree(): boolean {
    const { gl, fence } = this;
    if (!fence) return true;
    if (!gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) return false;
    gl.deleteSync(fence);
    this.fence = null;
    return true;
  }

  /** After a picture was drawn. */
  drawn(): void {
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }
}
