import { describe, expect, test } from 'vitest'
import type { KeyId, UserId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import type { AgentContext, AgentHandlers } from '../../src/operations/context.js'
import { IN_LINE_MAX } from '../../src/operations/fair-queue.js'
import {
  admitWrites,
  createWriteAdmission,
  type WriteAdmission,
  type WriteCaller,
} from '../../src/operations/write-admission.js'

/** A user of one key. */
const key = (name: string): WriteCaller => keyOf(name, name)
const keyOf = (user: string, name: string): WriteCaller => ({
  userId: `user_${user}` as UserId,
  keyId: `key_${name}` as KeyId,
})

function admissionOf(inFlightMax: number) {
  const clock = { nowMs: 0 }
  return { clock, admission: createWriteAdmission({ inFlightMax, nowMs: () => clock.nowMs }) }
}

/** What became of a call so far. */
interface Call {
  readonly caller: WriteCaller
  state: 'waiting' | 'at work' | 'refused'
}

function enter(admission: WriteAdmission, caller: WriteCaller): Call {
  const place = admission.enter(caller)
  const call: Call = { caller, state: 'waiting' }
  if (place instanceof Promise) {
    void place.then((may) => {
      call.state = may ? 'at work' : 'refused'
    })
  } else call.state = place ? 'at work' : 'refused'
  return call
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Calls of many keys, more than can end, each taking long inside; until they are shed. */
async function overload(clock: { nowMs: number }, admission: WriteAdmission): Promise<Call[]> {
  const calls: Call[] = []
  for (let step = 0; step < 50; step++) {
    clock.nowMs += 10
    for (let i = 0; i < 20; i++) calls.push(enter(admission, key(`${step} ${i}`)))
    await settled()
    const ending = calls.find(({ state }) => state === 'at work')
    if (ending === undefined) throw new Error('nothing is at work')
    calls.splice(calls.indexOf(ending), 1)
    admission.leave(ending.caller, 100)
  }
  await settled()
  return calls
}

describe('admission of writes', () => {
  test('never more than the maximum are under way, and a place that was left is taken again', () => {
    const { admission } = admissionOf(4)
    const keys = ['a', 'b', 'c', 'd', 'e'].map(key)
    expect(keys.map((it) => admission.enter(it))).toEqual([true, true, true, true, false])
    admission.leave(key('b'), null)
    expect(admission.enter(key('e'))).toBe(true)
    expect(admission.active).toBe(4)
  })

  test('keys that flood leave room for whoever comes next', () => {
    const { admission } = admissionOf(64)
    for (const flooding of ['a', 'b', 'c']) {
      for (let i = 0; i < 200; i++) enter(admission, key(flooding))
      expect(admission.active + admission.waiting).toBeLessThan(64)
      expect(enter(admission, key(`newcomer of ${flooding}`)).state).toBe('at work')
    }
  })

  test('a key alone has half of all places', () => {
    const { admission } = admissionOf(64)
    const calls = Array.from({ length: 200 }, () => enter(admission, key('a')))
    expect(calls.filter(({ state }) => state !== 'refused')).toHaveLength(32)
    expect(admission.refuses(key('a'))).toBe(true)
    expect(admission.refuses(key('b'))).toBe(false)
  })

  test('however many keys one user floods with, every call of another user is taken', () => {
    const { admission } = admissionOf(1_024)
    for (let i = 0; i < 4_000; i++) enter(admission, keyOf('greedy', `${i % 400}`))
    expect(admission.refuses(keyOf('greedy', 'one more'))).toBe(true)
    const others = Array.from({ length: 100 }, () => enter(admission, key('polite')))
    expect(others.filter(({ state }) => state === 'refused')).toEqual([])
  })

  test('a key that floods leaves room for the others of its user', () => {
    const { admission } = admissionOf(1_024)
    for (let i = 0; i < 2_000; i++) enter(admission, keyOf('one', 'greedy'))
    const others = Array.from({ length: 100 }, (_, i) => enter(admission, keyOf('one', `${i}`)))
    expect(others.filter(({ state }) => state === 'refused')).toEqual([])
  })

  test('a burst of one key waits its turn and is taken whole, slow as it may be', async () => {
    const { clock, admission } = admissionOf(1_024)
    const calls = Array.from({ length: 500 }, () => enter(admission, key('a')))
    for (let left = calls.length; left > 0; left--) {
      clock.nowMs += 10
      await settled()
      const ending = calls.find(({ state }) => state === 'at work')
      if (ending === undefined) throw new Error('nothing is at work')
      calls.splice(calls.indexOf(ending), 1)
      admission.leave(ending.caller, 200)
    }
    expect(calls).toEqual([])
    expect(admission.active).toBe(0)
  })

  test('a burst of many keys is taken whole, though a slow machine ends few meanwhile', async () => {
    const { clock, admission } = admissionOf(1_024)
    const calls: Call[] = []
    for (let step = 0; calls.length < 450; step++) {
      clock.nowMs += 10
      for (let i = 0; i < 9; i++) calls.push(enter(admission, key(`${step % 20} ${i}`)))
      await settled()
      const ending = calls.find(({ state }) => state === 'at work')
      if (step % 5 === 0 && ending !== undefined) admission.leave(ending.caller, 500)
    }
    expect(calls.filter(({ state }) => state === 'refused')).toEqual([])
  })

  test('a key that has much waiting delays another by a few places', async () => {
    const { admission } = admissionOf(1_024)
    const calls = Array.from({ length: 400 }, () => enter(admission, key('a')))
    const other = enter(admission, key('b'))
    expect(other.state).toBe('waiting')
    for (const { caller } of calls.slice(0, IN_LINE_MAX)) admission.leave(caller, null)
    await settled()
    expect(other.state).toBe('waiting')
    admission.leave(key('a'), null)
    await settled()
    expect(other.state).toBe('at work')
  })

  test('many keys of one user delay another user by a few places, and a key of theirs by as many again', async () => {
    const { admission } = admissionOf(1_024)
    const calls: Call[] = []
    for (let i = 0; admission.waiting < 300; i++) {
      calls.push(enter(admission, keyOf('one', `${i % 3}`)))
    }
    const sibling = enter(admission, keyOf('one', 'sibling'))
    const other = enter(admission, key('other'))
    const stateAfter = async (leaving: number) => {
      for (const { caller } of calls.splice(0, leaving)) admission.leave(caller, null)
      await settled()
      return [other.state, sibling.state]
    }
    expect(await stateAfter(IN_LINE_MAX)).toEqual(['waiting', 'waiting'])
    expect(await stateAfter(1)).toEqual(['at work', 'waiting'])
    expect(await stateAfter(3 * IN_LINE_MAX + 1)).toEqual(['at work', 'at work'])
  })

  test('among keys that have little waiting, whoever came first goes first', async () => {
    const { admission } = admissionOf(1_024)
    const filling: Call[] = []
    while (filling.at(-1)?.state !== 'waiting') {
      filling.push(enter(admission, key(`${filling.length}`)))
    }
    const calls = ['x', 'x', 'y', 'x', 'y'].map((name) => enter(admission, key(name)))
    const order: number[] = []
    for (const { caller } of filling.slice(0, calls.length + 1)) {
      admission.leave(caller, null)
      await settled()
      for (const [place, { state }] of calls.entries()) {
        if (state === 'at work' && !order.includes(place)) order.push(place)
      }
    }
    expect(order).toEqual([0, 1, 2, 3, 4])
  })

  test('under lasting overload little is at work, nothing waits, and the rest is refused', async () => {
    const { clock, admission } = admissionOf(1_024)
    const calls = await overload(clock, admission)
    expect(admission.activeMax).toBeLessThan(128)
    expect(admission.waiting).toBe(0)
    expect(admission.refuses(key('newcomer'))).toBe(true)
    expect(calls.filter(({ state }) => state === 'refused').length).toBeGreaterThan(500)
  })

  test('a flood is met at once: nothing waits for long, nor is more at work meanwhile', async () => {
    const { clock, admission } = admissionOf(1_024)
    const waits: { readonly call: Call; readonly sinceMs: number }[] = []
    const atWork: Call[] = []
    let mostAtWork = 0
    for (let step = 0; step < 60; step++) {
      clock.nowMs += 5
      for (let i = 0; i < 135; i++) {
        const call = enter(admission, key(`${step} ${i}`))
        if (call.state === 'waiting') waits.push({ call, sinceMs: clock.nowMs })
        else if (call.state === 'at work') atWork.push(call)
      }
      await settled()
      for (const wait of waits.splice(0)) {
        if (wait.call.state === 'waiting') waits.push(wait)
        else if (wait.call.state === 'at work') atWork.push(wait.call)
        expect(clock.nowMs - wait.sinceMs).toBeLessThanOrEqual(150)
      }
      mostAtWork = Math.max(mostAtWork, admission.active)
      // Ten end in 5 ms; the first found the service idle.
      for (const { caller } of atWork.splice(0, 10)) admission.leave(caller, step < 4 ? 5 : 60)
      // Places ran out in the first 50 ms: until it is known why, no more go to work.
      if (step === 18) expect(admission.active).toBeLessThan(64)
    }
    expect(mostAtWork).toBeLessThanOrEqual(128)
  })

  test.each([
    ['key gets in alongside one', () => key('greedy')],
    ['user gets in alongside 400 keys of one', (n: number) => keyOf('greedy', `greedy ${n % 400}`)],
  ])('a polite %s that floods without end', async (_what, greedy) => {
    const { clock, admission } = admissionOf(1_024)
    const open = (await overload(clock, admission)).filter(({ state }) => state !== 'refused')
    let refused = 0
    let asked = 0
    for (let step = 0; step < 2_000; step++) {
      clock.nowMs += 2
      for (let i = 0; i < 5; i++) {
        const call = enter(admission, greedy(asked++))
        if (call.state === 'refused') refused++
        else open.push(call)
      }
      // Once what the many keys had waiting is gone.
      if (step >= 100 && step % 20 === 0) {
        const call = enter(admission, key('polite'))
        expect(call.state).not.toBe('refused')
        open.push(call)
      }
      await settled()
      const at = open.findIndex(({ state }) => state === 'at work')
      const [ending] = open.splice(at, 1)
      if (ending !== undefined) admission.leave(ending.caller, 60)
    }
    expect(refused).toBeGreaterThan(5_000)
  })

  test('after overload bursts are taken again', async () => {
    const { clock, admission } = admissionOf(1_024)
    const calls = await overload(clock, admission)
    for (const { caller } of calls.filter(({ state }) => state === 'at work')) {
      admission.leave(caller, 100)
    }
    await settled()
    clock.nowMs += 1_000
    const burst = Array.from({ length: 300 }, () => enter(admission, key('a')))
    expect(burst.filter(({ state }) => state === 'refused')).toEqual([])
  })

  test('after overload the bursts of a lesser load are taken again', async () => {
    const { clock, admission } = admissionOf(1_024)
    let open = await overload(clock, admission)
    let refused = 0
    for (let step = 0; step < 160; step++) {
      // Six bursts a second, each larger than what may be at work and wait while calls are shed.
      if (step % 10 === 0) {
        for (let i = 0; i < 80; i++) open.push(enter(admission, key(`${step} ${i}`)))
      }
      clock.nowMs += 16
      await settled()
      if (step >= 120) refused += open.filter(({ state }) => state === 'refused').length
      open = open.filter(({ state }) => state !== 'refused')
      const ending = open.filter(({ state }) => state === 'at work').slice(0, 40)
      // A slow machine, on which nothing is quicker.
      for (const { caller } of ending) admission.leave(caller, 8)
      open = open.filter((call) => !ending.includes(call))
    }
    expect(refused).toBe(0)
  })

  test('calls that wait for a distant node alone do not hold others up', async () => {
    const { clock, admission } = admissionOf(1_024)
    for (let i = 0; i < 900; i++) enter(admission, key(`${i}`))
    for (let window = 0; window < 5; window++) {
      clock.nowMs += 100
      admission.leave(key(`${window}`), 5)
    }
    await settled()
    expect(admission.active).toBe(895)
  })

  test('a flood on a slow machine lets more be at work while they wait for a distant node', async () => {
    const { clock, admission } = admissionOf(1_024)
    const before = (await overload(clock, admission)).filter(({ state }) => state === 'at work')
    for (const { caller } of before) admission.leave(caller, 8)
    const atWork: { readonly caller: WriteCaller; readonly untilMs: number }[] = []
    for (let step = 0; step < 1_000; step++) {
      clock.nowMs += 4
      for (let i = 0; i < 40; i++) {
        const call = enter(admission, key(`${step} ${i}`))
        if (call.state === 'at work') {
          atWork.push({ caller: call.caller, untilMs: clock.nowMs + 200 })
        }
      }
      const ending = atWork.filter(({ untilMs }) => untilMs <= clock.nowMs)
      for (const { caller } of ending) admission.leave(caller, 8)
      atWork.splice(0, ending.length)
    }
    expect(admission.activeMax).toBeGreaterThan(256)
  })

  test('a write without a place is OVERLOADED and never begun; reads go on', async () => {
    const { admission } = admissionOf(2)
    let begun = 0
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const handlers = {
      send_transaction: async () => {
        begun++
        await ended
        return { ok: false, fault: fault('CHAIN_REJECTED') }
      },
      get_limits: () => ({ ok: true, value: {} }),
    } as unknown as AgentHandlers
    const admitted = admitWrites(handlers, admission)
    const send = (name: string) => {
      const context = { key: key(name) } as AgentContext
      return admitted.send_transaction(context, {} as never)
    }
    const underWay = [send('a'), send('b')]
    expect(await send('c')).toMatchObject({ ok: false, fault: { code: 'OVERLOADED' } })
    expect(begun).toBe(2)
    expect(admitted.get_limits).toBe(handlers.get_limits)
    end()
    await Promise.all(underWay)
    expect(admission.active).toBe(0)
  })

  test('while writes are stopped nothing is sent and no key is made; reads and withdrawals go on', async () => {
    const { admission } = admissionOf(2)
    const begun: string[] = []
    const noted = (name: string) => () => {
      begun.push(name)
      return { ok: true, value: {} }
    }
    const names = ['send_transaction', 'create_child_key', 'get_limits', 'withdraw_transaction']
    const handlers = Object.fromEntries(names.map((name) => [name, noted(name)]))
    const admitted = admitWrites(handlers as unknown as AgentHandlers, admission, () =>
      fault('WRITES_STOPPED'),
    ) as unknown as Record<string, (context: AgentContext, input: object) => Promise<unknown>>
    const stopped = { ok: false, fault: { code: 'WRITES_STOPPED' } }
    for (const name of names) {
      const answer = await admitted[name]?.({ key: key('a') } as AgentContext, {})
      if (begun.includes(name)) expect(answer).toMatchObject({ ok: true })
      else expect(answer).toMatchObject(stopped)
    }
    expect(begun).toEqual(['get_limits', 'withdraw_transaction'])
  })

  test('a handler that throws gives its place back', async () => {
    const { admission } = admissionOf(1)
    const handlers = {
      send_transaction: () => {
        throw new Error('broken')
      },
    } as unknown as AgentHandlers
    const context = { key: key('a') } as AgentContext
    await expect(
      admitWrites(handlers, admission).send_transaction(context, {} as never),
    ).rejects.toThrow('broken')
    expect(admission.active).toBe(0)
  })
})
