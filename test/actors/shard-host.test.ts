import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type ActorShell,
  type AskResult,
  eraseShell,
  type ReplyToken,
} from '../../actors/runtime/actor.js'
import { ShardHost } from '../../actors/runtime/shard-host.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { KeyId } from '../../src/domain/ids.js'
import { NO_METER } from '../../src/domain/meter.js'
import type { Commits } from '../../src/store/commits.js'
import { openRealStore, type RealStore } from './real-store.js'

/** Commands of an actor that counts. Its count is in the store, as the use of a key. */
type Command =
  | 'add'
  | 'add, told at once'
  | 'add and tell'
  | 'add and tell at once'
  | 'look at once'
  | 'look at disk'
  | 'count'
  | 'clear'
  | 'leave'
  | 'break before'
  | 'break after'
  | 'flushed'

const ID = 'key_counter' as KeyId

describe('a shard', () => {
  let store: RealStore
  let host: ShardHost
  let answers: Map<ReplyToken, AskResult>
  let storedWhenAnswered: Map<ReplyToken, number>
  let happened: string[]
  let tokens: number
  let resumedAt: number[]
  let mayClear: boolean

  beforeEach(async () => {
    store = await openRealStore()
    answers = new Map()
    storedWhenAnswered = new Map()
    happened = []
    tokens = 0
    resumedAt = []
    mayClear = true
    host = hostOver(store.commits)
  })
  afterEach(() => store.close())

  function hostOver(commits: Commits): ShardHost {
    return new ShardHost({
      meter: NO_METER,
      commits,
      timers: systemTimers(Date.now),
      shells: [eraseShell(counter()), eraseShell(preparing())],
      reply(token, result) {
        if (answers.has(token)) throw new Error(`${token} was answered twice`)
        answers.set(token, result)
        storedWhenAnswered.set(token, stored())
        happened.push(`reply ${token}`)
      },
      appended: () => undefined,
      log: { error: (_, message) => happened.push(message) },
      fatal: (error) => happened.push(`fatal ${error}`),
    })
  }

  const stored = () => {
    store.reader.fresh()
    return store.reader.keys.lastUsedAtMs(ID) ?? 0
  }

  const EFFECTS: Partial<Record<Command, readonly Look[]>> = {
    'add and tell': ['look'],
    'add and tell at once': ['tell at once'],
  }
  const TOLD = 5

  type Look = 'look' | 'look at once' | 'look at disk' | 'tell at once'

  function counter(): ActorShell<{ count: number }, Command, number, Look> {
    return {
      kind: 'key-use',
      load: () => ({ count: stored() }),
      decide(state, command, token) {
        if (command === 'break before') throw new Error('broken')
        const reply = (value: unknown) =>
          token === null ? [] : [{ token, result: { ok: true, value } as const }]
        if (command === 'count') return { events: [], effects: [], replies: reply(state.count) }
        if (command === 'flushed') return { events: [], effects: [], replies: [] }
        if (command === 'look at once' || command === 'look at disk') {
          return { events: [], effects: [command], replies: [] }
        }
        if (command === 'leave') return { events: [], effects: [], replies: reply(state.count) }
        state.count = command === 'clear' ? 0 : state.count + 1
        if (command === 'break after') throw new Error('broken')
        if (command === 'add, told at once') {
          const promptReplies = reply(state.count)
          return { events: [state.count], effects: [], replies: [], promptReplies }
        }
        return {
          events: [state.count],
          effects: EFFECTS[command] ?? [],
          replies: reply(state.count),
        }
      },
      record(writer, state) {
        writer.putKeyUse(ID, state.count)
      },
      resume(state) {
        resumedAt.push(state.count)
        return null
      },
      startsAtOnce: (effect) => effect === 'look at once' || effect === 'tell at once',
      run(_id, effect, self) {
        if (effect === 'tell at once') {
          for (let i = 0; i < TOLD; i++) self('add')
          return
        }
        happened.push(`effect sees ${stored()}`)
        self('flushed')
      },
      idle: () => true,
    }
  }

  /** The same, which is asked before the mailbox whether it may be cleared. */
  function preparing(): ReturnType<typeof counter> {
    return {
      ...counter(),
      kind: 'quotas',
      prepare: (_, command) => (command === 'clear' && !mayClear ? 'leave' : command),
    }
  }

  function ask(command: Command, kind: 'key-use' | 'quotas' = 'key-use'): ReplyToken {
    const token = ++tokens
    host.deliver({ kind, id: ID, command, token })
    return token
  }
  const answered = (token: ReplyToken) =>
    vi.waitFor(
      () => {
        const answer = answers.get(token)
        if (answer === undefined) throw new Error('not answered')
        return answer
      },
      { timeout: 20_000 },
    )

  test('answers and starts effects only once what they rest on is on disk', async () => {
    const token = ask('add and tell')
    expect(stored()).toBe(0)
    expect(await answered(token)).toEqual({ ok: true, value: 1 })
    expect(stored()).toBe(1)
    expect(happened).toEqual(['reply 1', 'effect sees 1'])
  })

  test('commits a tick at once; its answers keep their order', async () => {
    const first = Array.from({ length: 50 }, () => ask('add'))
    const last = await answered(first.at(-1) ?? 0)
    expect(last).toEqual({ ok: true, value: 50 })
    expect(happened).toEqual(first.map((token) => `reply ${token}`))
    expect(stored()).toBe(50)
  })

  test('what reads a state that is not on disk yet waits for the disk', async () => {
    ask('add')
    const read = ask('count')
    expect(await answered(read)).toEqual({ ok: true, value: 1 })
    expect(happened).toEqual(['reply 1', 'reply 2'])
    expect(stored()).toBe(1)
  })

  test('an answer that rests on earlier commits alone leaves before what is written along with it', async () => {
    const prompt = ask('add, told at once')
    expect(await answered(prompt)).toEqual({ ok: true, value: 1 })
    expect(storedWhenAnswered.get(prompt)).toBe(0)
    const read = ask('count')
    expect(await answered(read)).toEqual({ ok: true, value: 1 })
    expect(storedWhenAnswered.get(read)).toBe(1)
  })

  test('an effect that may start at once waits for no commit of its actor', async () => {
    ask('add')
    ask('look at once')
    const after = ask('add and tell')
    await answered(after)
    expect(happened).toEqual(['effect sees 0', 'reply 1', `reply ${after}`, 'effect sees 2'])
  })

  test('what a command tells others at once is in the same commit', async () => {
    const token = ask('add and tell at once')
    expect(await answered(token)).toEqual({ ok: true, value: 1 })
    expect(storedWhenAnswered.get(token)).toBe(1 + TOLD)
  })

  test('a command that writes nothing waits for no disk', async () => {
    await answered(ask('count'))
    expect(host.quiet).toBe(true)
  })

  test('a broken invariant leaves nothing behind: the state comes from the store again', async () => {
    await answered(ask('add'))
    expect(await answered(ask('break after'))).toMatchObject({
      ok: false,
      fault: { code: 'INTERNAL' },
    })
    expect(stored()).toBe(1)
    expect(await answered(ask('count'))).toEqual({ ok: true, value: 1 })
    expect(await answered(ask('add'))).toEqual({ ok: true, value: 2 })
  })

  test('callers whose answer was on its way when their actor broke hear of it once', async () => {
    const before = ask('add')
    const broken = ask('break before')
    await answered(broken)
    await answered(before)
    await expect.poll(() => host.quiet).toBe(true)
    expect([...answers.keys()].sort()).toEqual([before, broken])
    expect(answers.get(broken)).toMatchObject({ ok: false, fault: { code: 'INTERNAL' } })
    expect(stored()).toBe(1)
    expect(await answered(ask('count'))).toEqual({ ok: true, value: 1 })
  })

  test('an update that comes while an actor waits to be rebuilt reaches the rebuilt one, in order', async () => {
    const tell = (command: Command) =>
      host.deliver({ kind: 'key-use', id: ID, command, token: null })
    tell('add')
    tell('break before')
    tell('add')
    tell('add and tell')
    const refused = ask('count')
    expect(await answered(refused)).toMatchObject({ ok: false, fault: { code: 'OVERLOADED' } })
    await expect.poll(stored, { timeout: 20_000 }).toBe(3)
    expect(await answered(ask('count'))).toEqual({ ok: true, value: 3 })
    expect(happened.filter((what) => what.startsWith('effect'))).toEqual(['effect sees 3'])
  })

  test.for([
    ['while it waits for its commits', ['add', 'break before'], 2],
    ['at once', ['break before'], 1],
    ['at once, for another command', ['break before', 'leave'], 1],
  ] as const)('what was prepared for an actor that is rebuilt %s is prepared again', async (of) => {
    const [, before, left] = of
    await answered(ask('add', 'quotas'))
    for (const command of [...before, 'clear'] as const) {
      host.deliver({ kind: 'quotas', id: ID, command, token: null })
    }
    mayClear = false
    await expect.poll(() => host.quiet, { timeout: 20_000 }).toBe(true)
    expect(await answered(ask('count', 'quotas'))).toEqual({ ok: true, value: left })
  })

  test('a caller whose command was prepared for an actor that is rebuilt is answered by the new one', async () => {
    await answered(ask('add', 'quotas'))
    ask('break before', 'quotas')
    const cleared = ask('clear', 'quotas')
    mayClear = false
    expect(await answered(cleared)).toEqual({ ok: true, value: 1 })
    expect(stored()).toBe(1)
  })

  test('tells nobody what was decided upon a commit that the disk refuses', async () => {
    let refuse = () => {}
    const refused = new Promise<never>((_, reject) => {
      refuse = () => reject(new Error('EIO'))
    })
    host = hostOver({ commit: () => refused })
    for (const command of ['add', 'look at disk', 'count'] as const) {
      ask(command)
      await expect.poll(() => host.queueLength).toBe(0)
    }
    refuse()
    await expect.poll(() => happened).toEqual(['fatal Error: EIO'])
    ask('add, told at once')
    await new Promise((resolve) => setImmediate(resolve))
    expect(happened).toEqual(['fatal Error: EIO'])
  })

  test('an actor that is rebuilt is told to go on, as one that is loaded', async () => {
    await answered(ask('add'))
    expect(resumedAt).toEqual([0])
    await answered(ask('break before'))
    await answered(ask('count'))
    expect(resumedAt).toEqual([0, 1])
  })

  test('a full mailbox refuses with OVERLOADED and does nothing', async () => {
    const capacity = 50_000
    for (let i = 0; i < capacity; i++) {
      host.deliver({ kind: 'key-use', id: ID, command: 'count', token: null })
    }
    expect(host.queueLength).toBe(capacity)
    const refused = ask('add')
    expect(answers.get(refused)).toMatchObject({ ok: false, fault: { code: 'OVERLOADED' } })
    await expect.poll(() => host.queueLength).toBe(0)
    expect(stored()).toBe(0)
    expect(await answered(ask('add'))).toEqual({ ok: true, value: 1 })
  })
})
