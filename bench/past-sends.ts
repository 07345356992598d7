import { performance } from 'node:perf_hooks'
import type { ConsoleInput } from '../src/api/console-operations.js'
import { systemTimers } from '../src/clock/timers.js'
import type { UserId } from '../src/domain/ids.js'
import { backtestKey } from '../src/operations/console/backtest.js'
import { openEnvironment } from '../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../src/store/event-sequence.js'
import { localCommits } from '../src/store/local-commits.js'
import { createReader } from '../src/store/reader.js'
import { WriteBatch } from '../src/store/write-batch.js'
import { newOwnerOf, openFiller } from './fill-store.js'
import { makeDirectory } from './temporary.js'

type PolicyOnWire = NonNullable<ConsoleInput<'backtest_key'>['policy']>

export interface Backtested {
  readonly sends: number
  readonly denied: number
  readonly wallMs: number
  /** CPU of the whole process; the remaining wall time went to others on the machine. */
  readonly cpuMs: number
  /** The longest time between two turns of the loop. */
  readonly heldMs: number
}

/** Judges past sends of one key by a policy, in a store as the service has it. */
export async function backtestPast(sends: number, policy: PolicyOnWire): Promise<Backtested> {
  const directory = makeDirectory()
  try {
    const userId = 'user_backtest' as UserId
    const owner = newOwnerOf(userId, 'backtest', 0)
    const environment = openEnvironment(directory.path)
    const batch = new WriteBatch()
    batch.addSubWallet({ wallet: owner.wallet, lanes: [], spend: [], open: [] })
    batch.putApiKey(owner.key)
    const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
    await localCommits(environment, sequence).commit(batch)
    await environment.root.close()
    const filler = openFiller(directory.path, () => undefined)
    await filler.addPast(sends)
    await filler.close()
    return await measured(directory.path, owner.key.keyId, userId, policy)
  } finally {
    directory.remove()
  }
}

async function measured(
  path: string,
  keyId: string,
  userId: UserId,
  policy: PolicyOnWire,
): Promise<Backtested> {
  const environment = openEnvironment(path)
  const ports = { reader: createReader(environment), timers: systemTimers() }
  const backtest = backtestKey(ports)
  const person = { userId, personId: userId, role: 'owner' as const, email: null }
  const context = { ...person, requestId: 'bench', token: '', presentedKey: null }
  const watch = watchLoop()
  const [cpu, at] = [process.cpuUsage(), performance.now()]
  const answer = await backtest(context, { key_id: keyId, policy })
  const wallMs = performance.now() - at
  const { user, system } = process.cpuUsage(cpu)
  const heldMs = watch.stop()
  await environment.root.close()
  if (!answer.ok) throw new Error(answer.fault.message)
  const { checked, policy_denied: denied = [] } = answer.value
  return { sends: checked, denied: denied.length, wallMs, cpuMs: (user + system) / 1_000, heldMs }
}

function watchLoop() {
  let [on, heldMs, beforeMs] = [true, 0, performance.now()]
  const turn = () => {
    const nowMs = performance.now()
    heldMs = Math.max(heldMs, nowMs - beforeMs)
    beforeMs = nowMs
    if (on) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    stop() {
      on = false
      return heldMs
    },
  }
}
