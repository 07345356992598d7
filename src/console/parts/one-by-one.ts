/**
 * Repeats an action, with a pause before each time, until the signal ends it. A slow action is not
 * started a second time, because a confirmed call must be carried out once.
 */
export async function oneByOne(
  act: () => Promise<void>,
  pauseMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await pause(pauseMs, signal)
    if (signal.aborted) return
    await act()
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
