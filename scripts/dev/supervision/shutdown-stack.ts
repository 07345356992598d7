/** Undoes steps at the end in reverse order; a start that fails halfway undoes its half. */
export interface ShutdownStack {
  /** Runs at once when the stack is already closed, so that nothing started late remains. */
  defer(undo: () => Promise<void> | void): Promise<void>
  /** Undoes everything once; later calls wait for the first. Never rejects. */
  close(onError: (error: unknown) => void): Promise<void>
}

export function shutdownStack(): ShutdownStack {
  const undos: (() => Promise<void> | void)[] = []
  let closing: Promise<void> | null = null

  async function unwind(onError: (error: unknown) => void): Promise<void> {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      try {
        await undo()
      } catch (error) {
        onError(error)
      }
    }
  }

  return {
    async defer(undo) {
      if (closing === null) undos.push(undo)
      else await undo()
    },
    close(onError) {
      closing ??= unwind(onError)
      return closing
    },
  }
}
