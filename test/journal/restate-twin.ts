import { JournalUnavailable } from '../../src/journal/journal.js'
import type { Asking } from '../../src/journal/restate-ingresses.js'
import { answerSealed, READING } from '../../src/journal/restate-requests.js'
import type { ObjectState } from '../../src/journal/restate-state.js'

export interface Twin {
  readonly asking: Asking
  /** State of an object, by the object's key. */
  valuesOf(object: string): Map<string, Uint8Array>
  /** Changes of the state that are done before the handler is given up; null: it goes to its end. */
  givesUpAfter: number | null
  changes: number
}

/**
 * Restate as its objects see it: of a key, handlers that write run one after another and those that
 * read beside them, what they write is seen at once, and one that is given up leaves what it wrote.
 */
export function createTwin(key: Uint8Array): Twin {
  const objects = new Map<string, Map<string, Uint8Array>>()
  const writing = new Map<string, Promise<unknown>>()

  function valuesOf(object: string): Map<string, Uint8Array> {
    const values = objects.get(object) ?? new Map<string, Uint8Array>()
    objects.set(object, values)
    return values
  }

  function stateOf(object: string): ObjectState {
    const values = valuesOf(object)
    let left = twin.givesUpAfter
    function change(): void {
      if (left === 0) throw new JournalUnavailable('the handler was given up')
      if (left !== null) left--
      twin.changes++
    }
    return {
      async get(names) {
        await new Promise((resolve) => setImmediate(resolve))
        return names.map((name) => values.get(name) ?? null)
      },
      set(name, value) {
        change()
        values.set(name, Uint8Array.from(value))
      },
      clear(name) {
        change()
        values.delete(name)
      },
      clearAll() {
        change()
        values.clear()
      },
    }
  }

  const asking: Asking = {
    async ask({ operation, key: object, bytes }, use) {
      const run = () =>
        answerSealed(key, operation, object, stateOf(object), Uint8Array.from(bytes))
      if (READING.has(operation)) return use(await run())
      const turn = (writing.get(object) ?? Promise.resolve()).then(run, run)
      writing.set(
        object,
        turn.catch(() => undefined),
      )
      return use(await turn)
    },
    close: () => Promise.resolve(),
  }
  const twin: Twin = { asking, valuesOf, givesUpAfter: null, changes: 0 }
  return twin
}
