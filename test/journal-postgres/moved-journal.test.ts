import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/free-port.js'
import { runCommand } from '../support/run-command.js'
import { sendsUntilFailover } from './sends-until-failover.js'
import {
  journalPart,
  type StandbyPair,
  type StartedStandby,
  startStandbyPair,
} from './standby-pair.js'

const CALLERS = 6
const SLOW = { timeout: 90_000 }
const TIMEOUT_MS = 400_000
const MOVES = 4

interface Node {
  readonly home: string
  started: StartedStandby | null
}

/** Three homes of one installation, whose journal goes from one to another as it is told to. */
describe('cluster move', { timeout: TIMEOUT_MS }, () => {
  let pair: StandbyPair
  let third: string
  let nodes: readonly Node[]
  const servers: Server[] = []

  beforeAll(async () => {
    pair = await startStandbyPair(CALLERS)
    third = `${pair.home}-third`
    cpSync(pair.home, third, { recursive: true, filter: (path) => path !== join(pair.home, 'run') })
    symlinkSync(join(pair.stack.home, 'run'), join(third, 'run'))
    nodes = [pair.stack.home, pair.home, third].map((home) => ({ home, started: null }))
  }, TIMEOUT_MS)
  afterAll(async () => {
    for (const server of servers) server.close()
    await pair?.stop()
    rmSync(third, { recursive: true, force: true })
  })

  async function move(home: string, to: string) {
    const env = { ...pair.env, COUNTERSIGN_HOME: home }
    const { code, said, out } = await runCommand(env, ['--json', 'cluster', 'move', '--to', to])
    return { code, said, record: code === 0 ? JSON.parse(out) : {} }
  }

  async function startNode(node: Node): Promise<string> {
    node.started = await pair.startStandby(node.home)
    const { url } = node.started
    const ready = { standby: true, behind: 0, loaded: true }
    await expect.poll(() => journalPart(url), SLOW).toMatchObject(ready)
    return url
  }

  /** What a node says of itself in a state that comes and goes. */
  async function answering(part: object): Promise<string> {
    const server = createServer((_request, response) => {
      response.end(JSON.stringify({ status: 'not_ready', parts: { journal: part } }))
    })
    const port = await freePort()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
    servers.push(server)
    return `http://127.0.0.1:${port}`
  }

  const serves = (url: string) =>
    expect.poll(async () => (await journalPart(url)).http, SLOW).toBe(200)

  test('is refused where nobody could take it, and the owner goes on', async () => {
    const [first, second] = nodes as [Node, Node, Node]
    const { stack } = pair
    const nowhere = `http://127.0.0.1:${await freePort()}`
    const refusals = [
      [nowhere, 'gave no valid answer'],
      [stack.baseUrl, 'is not a standby'],
      [`http://127.0.0.1:${stack.sinkPort}`, 'nothing was handed over'],
      ['node-2', 'is not an http:// or https:// address'],
    ] as const
    for (const [to, why] of refusals) {
      const { code, said } = await move(first.home, to)
      expect([to, code, said]).toEqual([to, 2, expect.stringContaining(why)])
    }
    const url = await startNode(second)
    // It would take the journal back at its next start.
    const asLeader = await move(first.home, url)
    expect([asLeader.code, asLeader.said]).toEqual([
      2,
      expect.stringContaining('COUNTERSIGN_JOURNAL_ROLE of that service is owner'),
    ])
    const ready = { standby: true, loaded: true, epoch: 2, behind: 0, id: 'abc' }
    const standbys = [
      [{ ...ready, loaded: false }, 'is not loaded yet'],
      [{ ...ready, hindered: true }, 'cannot sign'],
      [{ ...ready, restored_percent: 40 }, '(40 % done)'],
      [{ ...ready, behind: 5_000 }, 'is 5000 entries behind'],
      [{ ...ready, epoch: 7 }, 'follows a leader with epoch 7'],
      [{ ...ready, id: undefined }, 'runs a build'],
    ] as const
    for (const [part, why] of standbys) {
      const { code, said } = await move(first.home, await answering(part))
      expect([code, said]).toEqual([2, expect.stringContaining(why)])
    }
    const elsewhere = await move(second.home, stack.baseUrl)
    expect([elsewhere.code, elsewhere.said]).toEqual([
      2,
      expect.stringContaining('is not the leader'),
    ])
    expect(await journalPart(stack.baseUrl)).toMatchObject({ http: 200, status: 'up', epoch: 2 })
    process.kill(stack.pids.service, 'SIGKILL')
    await serves(url)
    await second.started?.child
  })

  test('ends with the node that is named as the owner, each time, and no acknowledged send is lost', async () => {
    const [first, second, last] = nodes as [Node, Node, Node]
    await startNode(first)
    await startNode(last)
    const sends = sendsUntilFailover(pair.stack, () =>
      nodes.flatMap(({ started }) => started?.url ?? []),
    )
    const load = sends.begin()
    let leader = second
    for (let moves = 0; moves < MOVES; moves++) {
      const others = nodes.filter((node) => node !== leader)
      const named = others[moves % 2] as Node
      const sent = sends.count
      await expect.poll(() => sends.count, SLOW).toBeGreaterThan(sent + CALLERS)
      const url = named.started?.url ?? ''
      const { code, said, record } = await move(leader.home, url)
      expect([code, said]).toEqual([0, ''])
      expect(record).toMatchObject({
        epoch: 4 + moves,
        owner: expect.stringContaining(`:${new URL(url).port}`),
      })
      await serves(url)
      // It has ended, as it does that its supervisor starts again.
      const former = await leader.started?.child
      expect(await former?.stop()).toBe(0)
      await startNode(leader)
      leader = named
    }
    await load.stop()
    await sends.expectNoneLost(leader.started?.url ?? '')
    process.stdout.write(`${sends.count} sends acknowledged through ${MOVES} moves\n`)
  })
})
