import { type ChildProcess, fork } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/free-port.js'
import { runCommand } from '../support/run-command.js'
import { type SendsUntilFailover, sendsUntilFailover } from './sends-until-failover.js'
import { journalPart, nodePart, type StandbyPair, startStandbyPair } from './standby-pair.js'

const CALLERS = 6
const SLOW = { timeout: 90_000 }
const TIMEOUT_MS = 400_000
const DRAINS = 4
/** As systemd does after a second. */
const RESTART_MS = 500

/** A service at one place, which is started again whenever it ends. */
interface Supervised {
  readonly home: string
  readonly url: string
  readonly starts: () => number
  /** SIGKILL, and never again. */
  stop(): Promise<void>
}

/** Homes of one installation, of which one is told to leave the journal to whoever waits. */
describe('cluster drain', { timeout: TIMEOUT_MS }, () => {
  let pair: StandbyPair
  const nodes: Supervised[] = []
  let sends: SendsUntilFailover

  beforeAll(async () => {
    pair = await startStandbyPair(CALLERS, true)
    sends = sendsUntilFailover(pair.stack, () => nodes.map(({ url }) => url))
  }, TIMEOUT_MS)
  afterAll(async () => {
    for (const node of nodes) await node.stop()
    await pair?.stop()
  })

  async function supervise(home: string): Promise<Supervised> {
    const port = await freePort()
    const env = { PATH: process.env.PATH ?? '', COUNTERSIGN_MODE: 'dev' }
    let starts = 0
    let isOver = false
    let child: ChildProcess
    let gone: Promise<unknown>
    function start(): void {
      starts++
      child = fork('dist/src/main.js', [], {
        env: { ...env, ...pair.environmentOf(home, port) },
        stdio: 'ignore',
      })
      gone = new Promise((resolve) => child.once('exit', resolve))
      child.once('exit', () => {
        if (!isOver) setTimeout(() => !isOver && start(), RESTART_MS)
      })
    }
    start()
    const node: Supervised = {
      ...{ home, url: `http://127.0.0.1:${port}`, starts: () => starts },
      async stop() {
        isOver = true
        child.kill('SIGKILL')
        await gone
      },
    }
    nodes.push(node)
    return node
  }

  const drain = (home: string, ...more: readonly string[]) =>
    runCommand({ ...pair.env, COUNTERSIGN_HOME: home }, ['cluster', 'drain', ...more])

  const waits = (url: string) =>
    expect
      .poll(() => nodePart(url), SLOW)
      .toMatchObject({ http: 200, standby: true, behind: 0, loaded: true })
  const owns = (url: string) =>
    expect.poll(() => journalPart(url), SLOW).toMatchObject({ http: 200, status: 'up' })

  test('is refused while nobody waits, and the service goes on', async () => {
    const { stack } = pair
    const asLeader = await drain(stack.home)
    expect([asLeader.code, asLeader.said]).toEqual([
      2,
      expect.stringContaining('COUNTERSIGN_JOURNAL_ROLE of that service is owner'),
    ])
    const second = await supervise(pair.home)
    await waits(second.url)
    const nothing = await drain(pair.home)
    expect([nothing.code, nothing.said]).toEqual([
      0,
      expect.stringContaining('there is nothing to drain'),
    ])
    expect(nothing.out).toMatch(/drained\s+(false|no)/)
    const user = await drain(stack.home, '--domain', 'user')
    expect([user.code, user.said]).toEqual([
      2,
      expect.stringContaining('systemctl stop countersign-identity-provider'),
    ])
    process.kill(stack.pids.service, 'SIGKILL')
    await owns(second.url)
    const { epoch } = await journalPart(second.url)
    const alone = await drain(pair.home)
    expect([alone.code, alone.said]).toEqual([
      2,
      expect.stringContaining('No standby reported ready within 5 s'),
    ])
    expect(await journalPart(second.url)).toMatchObject({ http: 200, status: 'up', epoch })
    expect(second.starts()).toBe(1)
  })

  test('ends with another node as the owner, each time, and no acknowledged send is lost', async () => {
    const second = nodes[0] as Supervised
    const first = await supervise(pair.stack.home)
    await waits(first.url)
    const load = sends.begin()
    let [leader, other] = [second, first]
    for (let drains = 0; drains < DRAINS; drains++) {
      const sent = sends.count
      await expect.poll(() => sends.count, SLOW).toBeGreaterThan(sent + CALLERS)
      const starts = leader.starts()
      const { code, said, out } = await drain(leader.home, '--json')
      expect([code, said]).toEqual([0, ''])
      expect(JSON.parse(out)).toMatchObject({
        drained: true,
        from: expect.stringContaining(`:${new URL(leader.url).port} https://`),
        owner: expect.stringContaining(`:${new URL(other.url).port} https://`),
      })
      // Its supervisor has started it again, once, and it waits.
      await waits(leader.url)
      expect(leader.starts()).toBe(starts + 1)
      ;[leader, other] = [other, leader]
    }
    await load.stop()
    await sends.expectNoneLost(leader.url)
    process.stdout.write(`${sends.count} sends acknowledged through ${DRAINS} drains\n`)
  })

  test('anyway takes nobody for one that waits, and the service is back after a while', async () => {
    const [leader, other] = nodes as [Supervised, Supervised]
    await other.stop()
    const before = sends.count
    const load = sends.begin()
    await expect.poll(() => sends.count, SLOW).toBeGreaterThan(before + CALLERS)
    const { epoch } = await journalPart(leader.url)
    const { code, said } = await drain(leader.home, '--anyway')
    expect([code, said]).toEqual([1, expect.stringContaining('no other node took over')])
    expect(said).toContain('finishes its requests, and stops')
    expect(said).toContain('has given up leadership')
    await expect
      .poll(() => journalPart(leader.url), SLOW)
      .toMatchObject({ http: 200, status: 'up', epoch: Number(epoch) + 1 })
    const then = sends.count
    await expect.poll(() => sends.count, SLOW).toBeGreaterThan(then + CALLERS)
    await load.stop()
    await sends.expectNoneLost(leader.url)
  })
})
