import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Child } from '../../bench/child-process.js'
import { type BenchKey, makeKeys } from '../../bench/keys.js'
import { runProgram } from '../../src/cli/program.js'
import { httpClient } from '../support/http-client.js'
import { journalPart, type StandbyPair, startStandbyPair } from './standby-pair.js'

const WAITS = { timeout: 60_000 }

/** Its home was copied before any of what the tests do to wallets. */
describe('the shares of wallet keys', () => {
  let pair: StandbyPair
  let standbyUrl: string
  let leader: Promise<Child>
  /** Of a wallet that was made after the copy. */
  let made: BenchKey
  beforeAll(async () => {
    pair = await startStandbyPair(2)
    ;({ url: standbyUrl, child: leader } = await pair.startStandby(pair.home))
  })
  afterAll(() => pair?.stop())

  async function run(home: string, ...words: string[]): Promise<string> {
    let said = ''
    const say = (text: string) => {
      said += text
    }
    const env = { ...pair.env, COUNTERSIGN_HOME: home }
    const code = await runProgram({ env, out: say, err: say, isInteractive: false }, words)
    expect(said, said).toSatisfy(() => code === 0)
    return said
  }

  async function sends(url: string, secret: string): Promise<void> {
    const body = { chain_id: pair.stack.chainId, to: `0x${'de'.repeat(20)}`, value: '1' }
    const reply = await httpClient(url, { 'x-api-key': secret }).post('/api/tx/send', body)
    expect(reply).toMatchObject({ status: 200, json: { status: 'broadcast' } })
  }

  async function sharesIn(home: string): Promise<unknown> {
    return JSON.parse(await run(home, '--json', 'custody', 'check', '--domain', 'service')).wallets
  }

  test('are refreshed only once the journal has them', async () => {
    await expect.poll(() => journalPart(standbyUrl), WAITS).toMatchObject({ behind: 0 })
    const said = await run(pair.stack.home, '--json', 'custody', 'refresh-shares')
    expect(said.match(/ is at epoch 2\n/g)?.length).toBeGreaterThanOrEqual(2)
    await sends(pair.stack.baseUrl, pair.stack.secrets[0] ?? '')
  })

  test('are with whoever takes the journal over: of new wallets, and those that were refreshed', async () => {
    const { stack, home } = pair
    const [key] = await makeKeys(stack.baseUrl, stack.consoleToken, 1)
    if (key === undefined) throw new Error('no key was made')
    made = key
    process.kill(stack.pids.service, 'SIGKILL')
    await expect.poll(async () => (await journalPart(standbyUrl)).http, WAITS).toBe(200)
    await sends(standbyUrl, made.secret)
    for (const secret of stack.secrets) await sends(standbyUrl, secret)
    // Those that sign nothing come to its disk as well.
    await expect.poll(() => sharesIn(home), WAITS).toBe(await sharesIn(stack.home))
  })

  test('are refreshed there, and go back to the first', async () => {
    const { stack, home } = pair
    const { url: backUrl } = await pair.startStandby(stack.home)
    await expect.poll(() => journalPart(backUrl), WAITS).toMatchObject({ standby: true, behind: 0 })
    expect(await run(home, 'custody', 'refresh-shares')).toContain(' is at epoch 3\n')
    expect(await (await leader).stop()).toBe(0)
    await expect.poll(async () => (await journalPart(backUrl)).http, WAITS).toBe(200)
    for (const secret of [made.secret, ...stack.secrets]) await sends(backUrl, secret)
  })
})
