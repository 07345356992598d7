import { Refusal } from './refusal.js'

/**
 * Runs a domain's console work: a key generation occupies its thread for many milliseconds with
 * curve arithmetic and synchronous disk writes. One task begins per turn of the event loop, so that
 * waiting approvals run between any two.
 */
export interface ConsoleQueue {
  /** @throws Refusal OVERLOADED before anything began; INTERNAL when it takes too long */
  run(task: () => unknown): Promise<unknown>
}

/**
 * Tasks wait for a disk or a token between their steps; more at once would only need more memory.
 */
const AT_WORK_MAX = 4
/** The bound for all connections together: seconds of work, far more than the service requests. */
const WAITING_MAX = 512
/**
 * A key in a slow token takes a second. A task that takes longer is stuck and must not keep its
 * place.
 */
const WORK_MS_MAX = 30_000

interface ConsoleQueueOptions {
  readonly waitingMax?: number
  readonly workMsMax?: number
}

export function createConsoleQueue(options: ConsoleQueueOptions = {}): ConsoleQueue {
  const { waitingMax = WAITING_MAX, workMsMax = WORK_MS_MAX } = options
  const waiting: (() => void)[] = []
  let atWork = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || waiting.length === 0 || atWork >= AT_WORK_MAX) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      waiting.shift()?.()
      schedule()
    })
  }

  function begin(
    task: () => unknown,
    resolve: (value: unknown) => void,
    reject: (e: unknown) => void,
  ) {
    atWork++
    let done = false
    const end = () => {
      if (done) return
      done = true
      clearTimeout(timer)
      atWork--
      schedule()
    }
    const timer = setTimeout(() => {
      end()
      reject(new Refusal('INTERNAL', 'took too long'))
    }, workMsMax)
    timer.unref()
    // An executor turns a synchronous exception of the task into a rejection.
    new Promise((settle) => settle(task())).then(resolve, reject).finally(end)
  }

  return {
    run(task) {
      if (waiting.length >= waitingMax) {
        return Promise.reject(new Refusal('OVERLOADED', 'too much console work'))
      }
      return new Promise((resolve, reject) => {
        waiting.push(() => begin(task, resolve, reject))
        schedule()
      })
    },
  }
}
