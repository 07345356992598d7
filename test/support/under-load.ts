/** Callers that repeat a call, each one call at a time, until they are told to stop. */
export function underLoad(
  callers: number,
  ask: (caller: number) => Promise<void>,
): { stop(): Promise<void> } {
  let isOver = false
  const asking = Array.from({ length: callers }, async (_, caller) => {
    while (!isOver) await ask(caller)
  })
  return {
    async stop() {
      isOver = true
      await Promise.all(asking)
    },
  }
}
