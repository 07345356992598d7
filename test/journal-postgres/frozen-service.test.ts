import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Child } from '../../bench/child-process.js'
import { runProgram } from '../../src/cli/program.js'
import { openBesideService } from '../../src/store/environment.js'
import { createReader } from '../../src/store/reader.js'
import { httpClient } from '../support/http-client.js'
import { journalPart, type StandbyPair, startStandbyPair } from './standby-pair.js'

const WAITS = { timeout: 60_000 }
const REASON = 'U broken into'

/** Its second home was copied while nothing was frozen. */
describe('the operator’s freeze of the service', () => {
  let pair: StandbyPair
  let standby: { readonly url: string; readonly child: Promise<Child> }
  beforeAll(async () => {
    pair = await startStandbyPair(1)
    standby = await pair.startStandby(pair.home)
  })
  afterAll(() => pair?.stop())

  async function custody(home: string, ...words: readonly string[]): Promise<void> {
    let said = ''
    const say = (text: string) => {
      said += text
    }
    const env = { ...pair.env, COUNTERSIGN_HOME: home }
    const args = ['custody', ...words, '--domain', 'service']
    const code = await runProgram({ env, out: say, err: say, isInteractive: false }, args)
    expect(said).toSatisfy(() => code === 0)
  }

  async function send(url: string): Promise<string> {
    const api = httpClient(url, { 'x-api-key': pair.stack.secrets[0] ?? '' })
    const body = { chain_id: pair.stack.chainId, to: `0x${'de'.repeat(20)}`, value: '1' }
    const { json } = await api.post('/api/tx/send', body)
    return String(json.error?.code ?? json.status)
  }

  const frozenFile = (home: string) => join(home, 'service', 'frozen.json')

  async function serves(url: string): Promise<void> {
    await expect.poll(async () => (await journalPart(url)).http, WAITS).toBe(200)
  }

  /** What the store of a standby has of it by now. */
  async function carriedTo(home: string): Promise<unknown> {
    const environment = openBesideService(join(home, 'service', 'store'))
    try {
      return createReader(environment).freezes.instance() ?? null
    } finally {
      await environment.root.close()
    }
  }

  /** What the store of a standby is behind by would be no news to it. */
  async function follows(url: string): Promise<void> {
    await expect.poll(() => journalPart(url), WAITS).toMatchObject({ standby: true, behind: 0 })
  }

  test('is in force with whoever takes the journal over, from its first answer on', async () => {
    const { stack, home } = pair
    await follows(standby.url)
    expect(await send(stack.baseUrl)).toBe('broadcast')
    await custody(stack.home, 'freeze', '--reason', REASON)
    await expect.poll(() => send(stack.baseUrl), WAITS).toBe('FROZEN')
    await expect.poll(() => carriedTo(home), WAITS).toMatchObject({ reason: REASON })
    process.kill(stack.pids.service, 'SIGKILL')
    await serves(standby.url)
    expect(await send(standby.url)).toBe('FROZEN')
    expect(readFileSync(frozenFile(home), 'utf8')).toBe(
      readFileSync(frozenFile(stack.home), 'utf8'),
    )
  })

  test('is lifted there, and for each that takes over after it but a home that has it itself', async () => {
    const { stack, home } = pair
    await custody(home, 'unfreeze')
    await expect.poll(() => send(standby.url), WAITS).toBe('broadcast')
    const first = await pair.startStandby(stack.home)
    await follows(first.url)
    // Which ends after a last look, and leaves.
    expect(await (await standby.child).stop()).toBe(0)
    await serves(first.url)
    expect(await send(first.url)).toBe('FROZEN')
    await custody(stack.home, 'unfreeze')
    await expect.poll(() => send(first.url), WAITS).toBe('broadcast')
    standby = await pair.startStandby(home)
    await follows(standby.url)
    expect(await (await first.child).stop()).toBe(0)
    await serves(standby.url)
    expect([await send(standby.url), existsSync(frozenFile(home))]).toEqual(['broadcast', false])
  })

  test('comes with the journal even where it was said as the owner ended', async () => {
    const { stack, home } = pair
    const next = await pair.startStandby(stack.home)
    await follows(next.url)
    const leader = await standby.child
    await custody(home, 'freeze')
    expect(await leader.stop()).toBe(0)
    await serves(next.url)
    expect(await send(next.url)).toBe('FROZEN')
    rmSync(frozenFile(stack.home))
    await expect.poll(() => send(next.url), WAITS).toBe('broadcast')
  })
})
