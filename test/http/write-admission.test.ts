import { describe, expect, test } from 'vitest'
import type { KeyId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import type { AgentContext, AgentHandlers } from '../../src/operations/context.js'
import { admitWrites, createWriteAdmission } from '../../src/operations/write-admission.js'

const key = (name: string) => `key_${name}` as KeyId

describe('admission of writes', () => {
  test('never more than the maximum are under way, and a place that was left is taken again', () => {
    const admission = createWriteAdmission(4)
    const keys = ['a', 'b', 'c', 'd', 'e'].map(key)
    expect(keys.map((it) => admission.enter(it))).toEqual([true, true, true, true, false])
    admission.leave(key('b'))
    expect(admission.enter(key('e'))).toBe(true)
    expect(admission.inFlight).toBe(4)
  })

  test('keys that flood leave room for whoever comes next', () => {
    const admission = createWriteAdmission(64)
    for (const flooding of ['a', 'b', 'c']) {
      for (let i = 0; i < 200; i++) admission.enter(key(flooding))
      expect(admission.inFlight).toBeLessThan(64)
      expect(admission.enter(key(`newcomer of ${flooding}`))).toBe(true)
    }
  })

  test('a key alone has half of all places', () => {
    const admission = createWriteAdmission(64)
    const admitted = Array.from({ length: 200 }, () => admission.enter(key('a')))
    expect(admitted.filter(Boolean)).toHaveLength(32)
  })

  test('a write without a place is OVERLOADED and never begun; reads go on', async () => {
    const admission = createWriteAdmission(2)
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
      const context = { key: { keyId: key(name) } } as AgentContext
      return admitted.send_transaction(context, {} as never)
    }
    const underWay = [send('a'), send('b')]
    expect(await send('c')).toMatchObject({ ok: false, fault: { code: 'OVERLOADED' } })
    expect(begun).toBe(2)
    expect(admitted.get_limits).toBe(handlers.get_limits)
    end()
    await Promise.all(underWay)
    expect(admission.inFlight).toBe(0)
  })

  test('a handler that throws gives its place back', async () => {
    const admission = createWriteAdmission(1)
    const handlers = {
      send_transaction: () => {
        throw new Error('broken')
      },
    } as unknown as AgentHandlers
    const context = { key: { keyId: key('a') } } as AgentContext
    await expect(
      admitWrites(handlers, admission).send_transaction(context, {} as never),
    ).rejects.toThrow('broken')
    expect(admission.inFlight).toBe(0)
  })
})
