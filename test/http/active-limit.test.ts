import { describe, expect, test } from 'vitest'
import { type ActiveLimit, createActiveLimit } from '../../src/operations/active-limit.js'

/** What happens in one window, and how many are at work and waiting at its end. */
interface Load {
  readonly arrived?: number
  readonly refused?: number
  readonly completed?: number
  readonly delayMs?: number
  readonly active: number
  readonly queued: number
}

const PLACES = 1_024
const IDLE: Load = { active: 0, queued: 0 }
const FULL = { active: 128, queued: 800 }
const FLOOD: Load = { ...FULL, arrived: 400, refused: 100, completed: 20, delayMs: 60 }
/** As a flood, and nothing has completed that would say why. */
const STUCK_FLOOD: Load = { ...FULL, arrived: 400, refused: 100 }

/** A limit and a way to let one window of it pass. */
function limitWith() {
  const limit = createActiveLimit(PLACES)
  let nowMs = 1_000
  let last: Load = IDLE
  limit.advance(nowMs, 0, 0)
  const pass = (load: Load): ActiveLimit => {
    for (let i = 0; i < (load.arrived ?? 0); i++) limit.arrived()
    for (let i = 0; i < (load.refused ?? 0); i++) limit.refused()
    for (let i = 0; i < (load.completed ?? 0); i++) limit.completed(load.delayMs ?? null)
    nowMs += 100
    last = load
    limit.advance(nowMs, load.active, load.queued)
    return limit
  }
  const fallSilent = (): ActiveLimit => {
    nowMs += 1_000
    limit.advance(nowMs, last.active, last.queued)
    return limit
  }
  return { limit, pass, fallSilent }
}

function shedding() {
  const under = limitWith()
  for (let window = 0; window < 3 && !under.limit.shedding; window++) under.pass(FLOOD)
  expect(under.limit.phase).toBe('shedding')
  return under
}

describe('the limit of writes at work', () => {
  test('is open while as many calls complete as arrive', () => {
    const { pass } = limitWith()
    for (let window = 0; window < 10; window++) {
      expect(pass({ arrived: 200, completed: 200, delayMs: 40, ...FULL }).phase).toBe('open')
    }
  })

  test('suspects a flood whose cause is unknown, and lets little begin meanwhile', () => {
    const { pass } = limitWith()
    const { phase, max } = pass(STUCK_FLOOD)
    expect(phase).toBe('suspected')
    expect(max).toBe(32)
  })

  test('does not shed while nothing completes: something is stuck, and shedding is no help', () => {
    const { pass } = limitWith()
    for (let window = 0; window < 10; window++) expect(pass(STUCK_FLOOD).phase).toBe('suspected')
  })

  test('opens again, as wide as before, when what was suspected is over', () => {
    const { pass } = limitWith()
    pass(STUCK_FLOOD)
    const { phase, max } = pass(IDLE)
    expect(phase).toBe('open')
    expect(max).toBe(128)
  })

  test('sheds a flood that is slow inside the service, with fewer at work', () => {
    const { limit } = shedding()
    expect(limit.shedding).toBe(true)
    expect(limit.max).toBe(32)
  })

  test('recovers while nothing is refused, and falls back at a refusal', () => {
    const { pass } = shedding()
    expect(pass(IDLE).phase).toBe('recovering')
    expect(pass(FLOOD).phase).toBe('shedding')
    expect(pass(IDLE).phase).toBe('recovering')
    expect(pass(IDLE).phase).toBe('recovering')
    const { phase, max } = pass(IDLE)
    expect(phase).toBe('open')
    expect(max).toBe(128)
  })

  test('takes more while shedding when calls wait for a distant node alone', () => {
    const { limit, pass } = shedding()
    const before = limit.max
    expect(pass({ ...FLOOD, delayMs: 2 }).max).toBeGreaterThan(before)
  })

  test('forgets what it learned when nothing happened for a while', () => {
    const { fallSilent } = shedding()
    const { phase, max } = fallSilent()
    expect(phase).toBe('open')
    expect(max).toBe(128)
  })
})
