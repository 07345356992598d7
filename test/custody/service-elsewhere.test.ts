import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { issuerOf, type SinkStack } from '../../bench/sink-stack.js'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { identityProviderSocket } from '../../src/custody/domain-keys/layout.js'
import { type HttpClient, httpClient } from '../support/http-client.js'
import { freePort } from '../support/ports.js'
import { leaveJournal, startAskedSinkStack } from '../support/second-node.js'
import { countersign, countersignOk } from './command.js'

const DAYS = 400
const POLL = { timeout: 60_000 }

interface Found {
  readonly subject: string
  readonly status: string
  readonly found: string
  readonly way_out: string | null
}

/** As on two machines: the second home has no socket of the identity provider, and a signer of its own. */
describe('a wallet service on another machine than the identity provider', () => {
  let directory: string
  let home: string
  let stack: SinkStack
  let link: Readonly<Record<string, string>>
  let refusedLink: Readonly<Record<string, string>>
  const children: Child[] = []

  function file(name: string, content: object): string {
    const path = join(directory, name)
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 })
    return path
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cs-elsewhere-'))
    home = join(directory, 'home')
    const authority = makeAuthority(directory, 'authority', DAYS)
    const stranger = makeAuthority(directory, 'stranger')
    const address = `127.0.0.1:${await freePort()}`
    const serving = { usage: 'serverAuth', names: 'DNS:identity', days: DAYS } as const
    const listener = file('identity-link.json', {
      ...{ listen: address, authority: authority.certificate },
      ...authority.issue('identity', serving),
    })
    const service = { address, server_name: 'identity', authority: authority.certificate }
    const own = authority.issue('service', { usage: 'clientAuth', days: DAYS })
    const foreign = stranger.issue('foreign', { usage: 'clientAuth', days: DAYS })
    link = { COUNTERSIGN_IDENTITY_LINK_FILE: file('link.json', { ...service, ...own }) }
    refusedLink = {
      COUNTERSIGN_IDENTITY_LINK_FILE: file('foreign.json', { ...service, ...foreign }),
    }
    stack = await startAskedSinkStack({
      ...{ wallets: 1, identityEnv: { IDENTITY_LINK_FILE: listener } },
    })
    await stack.restartService(async () => {
      for (const part of ['service', 'quorum-signer', 'registry.json', 'chains.json']) {
        cpSync(join(stack.home, part), join(home, part), { recursive: true })
      }
    })
    await leaveJournal(home)
    await start('dist/src/quorum-signer/main.js', {})
  })
  afterAll(async () => {
    for (const child of children) await child.kill()
    await stack?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  /** On the second machine. */
  async function start(entry: string, env: Readonly<Record<string, string>>): Promise<Child> {
    const child = await startChild(entry, {
      ...{ COUNTERSIGN_HOME: home, IDENTITY_ISSUER: issuerOf(stack.home) },
      ...env,
    })
    children.push(child)
    return child
  }

  const client = (baseUrl: string) => httpClient(baseUrl, { 'x-api-key': stack.secrets[0] ?? '' })
  const send = async (api: HttpClient) => {
    const to = `0x${randomBytes(20).toString('hex')}`
    const { status } = await api.post('/api/tx/send', { chain_id: stack.chainId, to, value: '1' })
    return status
  }

  async function startService(by = link): Promise<{ service: Child; api: HttpClient }> {
    const port = String(await freePort())
    const env = { PORT: port, COUNTERSIGN_WORKERS: '2', ...by }
    const service = await start('dist/src/main.js', env)
    return { service, api: client(`http://127.0.0.1:${port}`) }
  }

  test('takes over and signs by the link, and gives way to one that came later by the socket', async () => {
    const first = client(stack.baseUrl)
    await expect.poll(() => send(first), POLL).toBe(200)
    const { service, api: second } = await startService()
    expect(existsSync(identityProviderSocket(home))).toBe(false)
    await expect.poll(() => send(second), POLL).toBe(200)
    expect(await send(first)).toBe(503)

    await stack.restartService()
    await expect.poll(() => send(first), POLL).toBe(200)
    expect(await send(second)).toBe(503)
    const { stderr } = await countersign(home, ['custody', 'refresh-shares'], link)
    expect(stderr).toContain("this home's wallet service does not sign")

    await service.kill()
    const refused = await startService(refusedLink)
    await expect
      .poll(() => refused.service.said(), POLL)
      .toContain('cannot be reached over its link')
    expect(await send(refused.api)).toBe(503)
    await refused.service.kill()
    const { api: third } = await startService()
    await expect.poll(() => send(third), POLL).toBe(200)
  })

  test('has its shares refreshed by the link, and by nothing else', async () => {
    const command = ['custody', 'refresh-shares', '--json']
    const without = await countersign(home, command)
    expect(without.stderr).toContain('the identity provider or the quorum signer does not answer')
    expect((await countersign(home, command, refusedLink)).code).toBe(1)
    const refreshed = await countersignOk(home, command, link)
    expect(JSON.parse(refreshed).refreshed).toBeGreaterThan(0)
  })

  test('is looked at by the doctor, who finds no other domain amiss there', async () => {
    const doctor = async (at: string, env: Readonly<Record<string, string>>) => {
      const { stdout } = await countersign(at, ['doctor', '--json'], env)
      return (JSON.parse(stdout) as { findings: Found[] }).findings
    }
    const found = await doctor(home, link)
    const of = (findings: readonly Found[], subject: string) =>
      findings.find((finding) => finding.subject === subject)
    expect(of(found, 'link: identity provider')).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/^answers at .*certificate for 399 days.*provider's for 399/),
    })
    const ofIdentity = found.filter(({ subject }) => /^(process|socket): identity/.test(subject))
    expect(ofIdentity).toEqual([])
    expect(of(await doctor(home, refusedLink), 'link: identity provider')).toMatchObject({
      status: 'fail',
      found: "refuses this side's certificate",
      way_out: expect.stringContaining('COUNTERSIGN_IDENTITY_LINK_FILE'),
    })
    const listener = { IDENTITY_LINK_FILE: join(directory, 'identity-link.json') }
    expect(of(await doctor(stack.home, listener), 'link: listener')).toMatchObject({ status: 'ok' })
  })

  test('does not start with a file that others may read, and names it', async () => {
    const path = file('open.json', {})
    chmodSync(path, 0o644)
    const started = start('dist/src/main.js', { PORT: '0', COUNTERSIGN_IDENTITY_LINK_FILE: path })
    await expect(started).rejects.toThrow(`${path} must have mode 0600`)
  })
})
