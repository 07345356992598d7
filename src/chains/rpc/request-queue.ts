import type { Timers } from '../../clock/timers.js'
import { WaitSample } from '../../domain/meter.js'
import type { QueueReading } from './types.js'

/**
 * A bounded queue in front of a bounded number of HTTP requests. Items that are pushed within one
 * tick, and those that pile up while all slots are busy, leave together.
 */
export interface RequestQueue<T> {
  /** False when the queue is full; the item was not accepted. */
  push(item: T): boolean
  /** Takes out all waiting items. */
  drain(): T[]
  read(): QueueReading
}

interface RequestQueueOptions<T> {
  readonly timers: Pick<Timers, 'soon' | 'elapsed'>
  readonly slotsMax: number
  readonly queuedMax: number
  readonly batchMax: number
  readonly batchCharsMax: number
  size(item: T): number
  /** Must never reject. */
  run(items: T[]): Promise<void>
}

export function createRequestQueue<T>(options: RequestQueueOptions<T>): RequestQueue<T> {
  const { slotsMax, queuedMax, batchMax, batchCharsMax, timers, size, run } = options
  let queue: T[] = []
  let head = 0
  let busy = 0
  let scheduled = false
  const wait = new WaitSample(timers.elapsed)

  function take(): T[] {
    const batch: T[] = []
    let chars = 0
    while (head < queue.length && batch.length < batchMax) {
      const item = queue[head] as T
      chars += size(item)
      if (batch.length > 0 && chars > batchCharsMax) break
      batch.push(item)
      head++
      wait.left()
    }
    if (head === queue.length) {
      queue = []
      head = 0
    } else if (head >= queuedMax) {
      queue = queue.slice(head)
      head = 0
    }
    return batch
  }

  function flush(): void {
    scheduled = false
    while (busy < slotsMax && head < queue.length) {
      busy++
      void run(take()).finally(() => {
        busy--
        if (head < queue.length) flush()
      })
    }
  }

  return {
    push(item) {
      if (queue.length - head >= queuedMax) return false
      queue.push(item)
      wait.entered()
      if (!scheduled && busy < slotsMax) {
        scheduled = true
        // Runs after the poll phase's callbacks, so that all items of one tick leave together.
        timers.soon(flush)
      }
      return true
    },
    drain() {
      const rest = queue.slice(head)
      wait.left(rest.length)
      queue = []
      head = 0
      return rest
    },
    read: () => ({ length: queue.length - head, waitMs: wait.waitMs }),
  }
}
