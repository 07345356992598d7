import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runProgram } from '../../src/cli/program.js'
import {
  registryPath,
  rootPrivateKeyPath,
  serviceLayout,
} from '../../src/custody/domain-keys/layout.js'
import { LEADER_SILENT_MS } from '../../src/journal/watch-leader.js'
import { httpClient } from '../support/http-client.js'
import { journalPart, nodePart, type StandbyPair, startStandbyPair } from './standby-pair.js'

const WAITS = { timeout: 60_000 }

/** Its home was copied with the owner's key, in whose place it is given one of its own. */
describe('a standby whose co-signer key the registry does not name', () => {
  let pair: StandbyPair
  let url: string
  beforeAll(async () => {
    pair = await startStandbyPair(1)
    ;({ url } = await pair.startStandby(pair.home))
  })
  afterAll(() => pair?.stop())

  async function custody(home: string, ...words: readonly string[]): Promise<string> {
    let said = ''
    const say = (text: string) => {
      said += text
    }
    const env = { ...pair.env, COUNTERSIGN_HOME: home }
    const io = { env, out: say, err: say, isInteractive: false }
    const code = await runProgram(io, ['custody', ...words])
    expect(said, said).toSatisfy(() => code === 0)
    return said
  }

  test('takes no journal over, and does once the registry names it', async () => {
    const { stack, home } = pair
    // One that still loads ends at a registry that names none of its keys, and says so.
    const ready = { standby: true, behind: 0, loaded: true }
    await expect.poll(() => journalPart(url), WAITS).toMatchObject(ready)
    const [enrolment, next] = [join(home, 's2.json'), join(home, 'next.json')]
    const { rootKey } = serviceLayout(home)
    const own = ['--domain', 'service', '--new-key', '--root-public', rootKey]
    await custody(home, 'provision', ...own, '--enrolment', enrolment)
    await expect.poll(() => journalPart(url), WAITS).toMatchObject({ hindered: true })
    process.kill(stack.pids.service, 'SIGKILL')
    // Long enough for any other to have taken it.
    await delay(4 * LEADER_SILENT_MS)
    expect(await journalPart(url)).toMatchObject({ http: 503, standby: true, hindered: true })
    const named = ['--registry', registryPath(stack.home), '--enrolments', enrolment]
    const root = ['--root', rootPrivateKeyPath(stack.home)]
    await custody(stack.home, 'sign-registry', ...root, ...named, '--out', next)
    for (const at of [stack.home, home]) await custody(at, 'install-registry', next)
    await expect.poll(async () => (await journalPart(url)).http, WAITS).toBe(200)
    const api = httpClient(url, { 'x-api-key': stack.secrets[0] ?? '' })
    const body = { chain_id: stack.chainId, to: `0x${'de'.repeat(20)}`, value: '1' }
    const sent = () => api.post('/api/tx/send', body)
    await expect.poll(async () => (await sent()).json.status, WAITS).toBe('broadcast')
  })
})

describe('a standby on whose disk too little is free', () => {
  let pair: StandbyPair
  let url: string
  beforeAll(async () => {
    pair = await startStandbyPair(1, true)
    const told = { COUNTERSIGN_DISK_FREE_MIN_MIB: '1048576' }
    ;({ url } = await pair.startStandby(pair.home, undefined, told))
  })
  afterAll(() => pair?.stop())

  test('says so before, is handed nothing, and serves reads where nobody else takes the journal', async () => {
    const { stack } = pair
    const waits = { standby: true, behind: 0, loaded: true, hindered: true, status: 'degraded' }
    await expect.poll(() => nodePart(url), WAITS).toMatchObject(waits)
    let said = ''
    const say = (text: string) => {
      said += text
    }
    const env = { ...pair.env, COUNTERSIGN_HOME: stack.home }
    const io = { env, out: say, err: say, isInteractive: false }
    expect(await runProgram(io, ['cluster', 'move', '--to', url])).not.toBe(0)
    expect(said).toContain('would refuse writes')
    process.kill(stack.pids.service, 'SIGKILL')
    const api = httpClient(url, { 'x-api-key': stack.secrets[0] ?? '' })
    await expect.poll(async () => (await journalPart(url)).standby, WAITS).toBeUndefined()
    await expect.poll(async () => (await api.get('/api/limits')).status, WAITS).toBe(200)
    const body = { chain_id: stack.chainId, to: `0x${'de'.repeat(20)}`, value: '1' }
    expect((await api.post('/api/tx/send', body)).json.error).toMatchObject({
      code: 'WRITES_STOPPED',
    })
  })
})
