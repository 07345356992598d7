import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readChainPolicies } from '../../src/config/chains.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { freePort } from '../support/ports.js'
import { createSignInBrowser } from '../support/sign-in-browser.js'
import { type Machine, openMachine, type Ran, type RunOptions } from './machine.js'
import { standInAt } from './real-addresses.js'

/**
 * Live from an empty directory, by the commands that `live init` prints, with the processes, users
 * and directories of the files that it writes. The chain is a node of our own that answers at the
 * real addresses.
 */

const BASE = 8453
const CLI = join(process.cwd(), 'scripts/countersign.mjs')
const USDC_FEED = '0x7e860098F58bBFC8648a4311b374B1D669a2bc6B'
const LISTED = '0x8f3a1c5e7b924d60a1b8c37e5f2d9046bc71e8a5'
const RECIPIENT = '0x000000000000000000000000000000000000dEaD'
const USER = { email: 'grace@example.test', password: 'correct horse battery staple' }
const UNITS = ['countersign-quorum-signer', 'countersign-identity-provider', 'countersign-service']
const READY_MS = 180_000
const POLL_MS = 250
const LOG_TAIL_CHARS = 4_000

let anvil: Anvil
let directory: string
let machine: Machine
let serviceUrl: string
let identityUrl: string
/** Of the first key, and the wallet that it is for. */
let secret: string
let walletId: string

beforeAll(async () => {
  anvil = await startAnvil({ chainId: BASE, args: ['--block-time', '1'] })
  directory = mkdtempSync(join(tmpdir(), 'cs-zero-'))
  await chmod(directory, 0o755)
})
afterAll(async () => {
  await machine?.stop()
  await anvil?.stop()
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
})

const at = (...path: string[]) => join(directory, ...path)
const home = () => at('home')

async function ok(
  user: string | null,
  command: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const ran = await machine.run(user, command, options)
  if (ran.code !== 0) throw new Error(`countersign ${command.join(' ')}: ${ran.stderr}`)
  return ran
}

/** @throws Error with what the service says of itself, and the ends of the logs */
async function ready(): Promise<void> {
  const deadlineMs = Date.now() + READY_MS
  for (;;) {
    const response = await fetch(`${serviceUrl}/readyz`).catch(() => null)
    if (response?.ok === true) return
    if (Date.now() > deadlineMs) {
      const logs = UNITS.map((unit) => machine.output(unit).slice(-LOG_TAIL_CHARS))
      throw new Error([`not ready: ${await response?.text()}`, ...logs].join('\n'))
    }
    await delay(POLL_MS)
  }
}

/** As the user on a machine of their own: what the command line asks to open is opened. */
function asUser(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const onError = (text: string) => {
    const [url] = /https?:\/\/\S+\/auth\?\S+/.exec(text) ?? []
    if (url !== undefined) void createSignInBrowser(USER).open(url)
  }
  return ok(null, command, { env: { XDG_CONFIG_HOME: at('config'), ...env }, onError })
}

test('from an empty directory to a confirmed send, and a doctor who finds nothing broken', async () => {
  const ports = { service: String(await freePort()), identity: String(await freePort()) }
  serviceUrl = `http://127.0.0.1:${ports.service}`
  identityUrl = `http://127.0.0.1:${ports.identity}`

  // What an operator is told to do, in order.
  execFileSync(
    process.execPath,
    [
      ...[CLI, 'live', 'init', at('install'), '--data', home(), '--file-keys'],
      ...['--service-url', serviceUrl, '--identity-url', identityUrl],
      ...['--service-port', ports.service, '--identity-port', ports.identity],
      ...['--chains', String(BASE), '--usdc-feeds', `${BASE}=${USDC_FEED}`],
    ],
    { stdio: 'pipe' },
  )
  machine = openMachine(at('install'), CLI)
  const [chain] = readChainPolicies(at('install', 'chains.json')).chains
  if (chain === undefined) throw new Error('no chain')
  await standInAt(anvil, chain)
  const service = at('install', 'environment', 'service.env')
  const environment = readFileSync(service, 'utf8')
  expect(environment).toContain('RPC_URL_BASE=\n')
  writeFileSync(service, environment.replace('RPC_URL_BASE=', `RPC_URL_BASE=${anvil.url}`))
  await copyFile(at('install', 'chains.json'), join(home(), 'chains.json'))
  await chmod(join(home(), 'chains.json'), 0o644)

  await ok(null, ['custody', 'make-root', '--to', at('root')])
  const exchange = join(home(), 'run')
  await copyFile(at('root', 'root.pub.pem'), join(exchange, 'root.pub.pem'))
  await chmod(join(exchange, 'root.pub.pem'), 0o644)
  const domains = [
    ['service', 'countersign-service'],
    ['user', 'countersign-identity'],
    ['quorum', 'countersign-quorum'],
  ] as const
  for (const [domain, user] of domains) {
    await ok(user, [
      ...['custody', 'provision', '--domain', domain, '--home', home()],
      ...['--root-public', join(exchange, 'root.pub.pem')],
      ...['--enrolment', join(exchange, `${domain}.json`)],
    ])
  }
  await ok(null, [
    ...['custody', 'sign-registry', '--root', at('root', 'root.pem'), '--enrolments'],
    ...domains.map(([domain]) => join(exchange, `${domain}.json`)),
    ...['--chains', join(home(), 'chains.json'), '--out', at('registry.json')],
  ])
  await ok(null, ['custody', 'install-registry', at('registry.json'), '--home', home()])
  writeFileSync(at('own.txt'), `${LISTED}\n`, { mode: 0o644 })
  const own = ['--source', 'file', '--name', 'own', '--home', home()]
  await ok('countersign-service', ['lists', 'import', at('own.txt'), ...own])

  const doctor = () =>
    machine.run(null, [
      ...['doctor', '--json', '--home', home()],
      ...['--environments', at('install', 'environment')],
    ])
  // Before anything runs: what is broken is said, with a way out each.
  const before = await doctor()
  expect(before.code, before.stderr).toBe(1)
  for (const { status, way_out } of JSON.parse(before.stdout).findings) {
    expect(status === 'ok' ? null : way_out).toEqual(status === 'ok' ? null : expect.any(String))
  }

  for (const unit of UNITS) machine.start(unit)
  await ready()

  // A first start has nothing to complain of.
  for (const unit of UNITS) expect(machine.output(unit)).not.toMatch(/"level":(50|60)/)

  // The first user, who is let in, chooses a password, and confirms with a P-256 key.
  const invited = await ok('countersign-identity', [
    ...['users', 'create', USER.email, '--p256', '--json', '--home', home()],
  ])
  const link = new URL(JSON.parse(invited.stdout).link)
  const chosen = await fetch(`${link.origin}${link.pathname}`, {
    method: 'POST',
    body: new URLSearchParams({ code: link.hash.slice(1), password: USER.password }),
  })
  expect(chosen.status, await chosen.text()).toBe(200)
  await asUser(['login', '--url', serviceUrl, '--issuer', identityUrl])
  await asUser(['authorizer', 'create'])
  const wallet = JSON.parse((await asUser(['wallets', 'create', 'treasury', '--json'])).stdout)
  const issued = await asUser([
    ...['keys', 'create', 'agent', '--wallet', wallet.sub_wallet_id, '--permission', 'trade'],
    ...['--daily', '100', '--monthly', '1000', '--chains', String(BASE), '--json'],
  ])
  secret = JSON.parse(issued.stdout).secret
  walletId = wallet.sub_wallet_id
  expect(secret).toMatch(/^sk_live_/)
  await anvil.rpc('anvil_setBalance', [wallet.addresses.evm, '0xde0b6b3a7640000'])
  const sent = await asUser(
    [
      ...['send', '--chain', String(BASE), '--to', RECIPIENT, '--value', '1000'],
      ...['--wait', '--json'],
    ],
    { COUNTERSIGN_API_KEY: secret },
  )
  expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'confirmed' })
  // Faults may be asked for in a test environment alone.
  const fault = await fetch(`${serviceUrl}/api/tx/send`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': secret,
      'countersign-fault': 'cosigner-away',
    },
    body: JSON.stringify({ chain_id: BASE, to: RECIPIENT, value: '1000' }),
  })
  expect(fault.status).toBe(400)
  expect(await fault.text()).toContain('sk_test_')

  const after = await doctor()
  const { healthy, findings } = JSON.parse(after.stdout)
  const broken = findings.filter(({ status }: { status: string }) => status === 'fail')
  expect(broken).toEqual([])
  expect({ healthy, code: after.code }).toEqual({ healthy: true, code: 0 })
  const directories = findings.find(({ subject }: { subject: string }) => subject === 'directories')
  expect(directories.status).toBe(machine.hasUsers ? 'ok' : 'warn')
})

/** Takes as long as all of the above: `npm run test:long -- live` asks for it. */
const describeLoss = () =>
  describe('when the machine is lost', () => {
    const PARTS = [
      ['service', 'countersign-service'],
      ['user', 'countersign-identity'],
      ['quorum', 'countersign-quorum'],
    ] as const

    test('what each user backed up makes an instance again, closed until the operator opens it', async () => {
      mkdirSync(at('backups'))
      await chmod(at('backups'), 0o777)
      for (const [part, user] of PARTS) {
        await ok(user, [
          ...['backup', 'create', '--to', at('backups', part), '--with-keys', '--home', home()],
          ...['--part', part],
        ])
        await ok(user, ['backup', 'verify', at('backups', part)])
      }
      const config = ['--part', 'config', '--home', home()]
      await ok(null, ['backup', 'create', '--to', at('backups', 'config'), ...config])

      await machine.kill()
      rmSync(home(), { recursive: true })
      machine = openMachine(at('install'), CLI)
      await ok(null, ['backup', 'restore', '--from', at('backups', 'config'), ...config])
      for (const [part, user] of PARTS) {
        await ok(user, [
          ...['backup', 'restore', '--from', at('backups', part), '--home', home()],
          '--nothing-outlived',
        ])
      }
      for (const unit of UNITS) machine.start(unit)
      await ready()

      const payment = ['--chain', String(BASE), '--to', RECIPIENT, '--value', '1000']
      const withKey = { COUNTERSIGN_API_KEY: secret, XDG_CONFIG_HOME: at('config') }
      const closed = await machine.run(null, ['send', ...payment, '--json'], { env: withKey })
      expect(closed.code).toBe(3)
      expect(JSON.parse(closed.stderr).error.code).toBe('FROZEN')
      for (const [domain, user] of PARTS.slice(0, 2)) {
        await ok(user, ['custody', 'unfreeze', '--domain', domain, '--home', home()])
      }
      // The key of before has used up its day; its owner signs in again and makes another.
      await expect
        .poll(async () => {
          const { stderr } = await machine.run(null, ['send', ...payment, '--json'], {
            env: withKey,
          })
          return JSON.parse(stderr).error.code
        })
        .toBe('LIMIT_EXCEEDED')
      await asUser(['login', '--url', serviceUrl, '--issuer', identityUrl])
      const issued = await asUser([
        ...['keys', 'create', 'again', '--wallet', walletId, '--permission', 'trade', '--json'],
        ...['--daily', '100', '--monthly', '1000', '--chains', String(BASE)],
      ])
      const again = { COUNTERSIGN_API_KEY: JSON.parse(issued.stdout).secret }
      const sent = await asUser(['send', ...payment, '--wait', '--json'], again)
      expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'confirmed' })
    })
  })

if (process.env.LIVE_RESTORE === '1') describeLoss()
