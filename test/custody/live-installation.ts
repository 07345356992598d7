import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { systemTimers } from '../../src/clock/timers.js'
import { writePublicFile } from '../../src/custody/domain-keys/private-file.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import {
  type ConnectedCoSigner,
  connectCoSigner,
} from '../../src/service-custody/connect-co-signer.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'
import { freePort } from '../support/ports.js'
import { type SecondNode, secondNode } from '../support/second-node.js'
import { countersignOk } from './command.js'
import { newWalletId, transfer } from './harness.js'

const USER = { email: 'grace@example.test', password: 'correct horse battery staple' }
const LISTED = '0x8f3a1c5e7b924d60a1b8c37e5f2d9046bc71e8a5'
const DOMAINS = ['service', 'user', 'quorum'] as const
const READY_MS = 60_000

/** How an installation keeps its keys. */
export interface LiveKeys {
  /** Of every process and command. */
  readonly env: Readonly<Record<string, string>>
  /** What `custody provision` is told of a domain's keys. */
  options(domain: string): readonly string[]
}

/** Provisions one as its operator does: root, three domains, registry. */
export async function provisionLive(home: string, rpcUrl: string, keys: LiveKeys): Promise<void> {
  const root = join(home, 'offline')
  const chainsFile = chainsFileAt(home, rpcUrl)
  const live = { ...keys.env, COUNTERSIGN_MODE: 'live' }
  const run = (...args: string[]) => countersignOk(home, ['custody', ...args], live)
  await run('make-root', '--to', root)
  const enrolments: string[] = []
  for (const domain of DOMAINS) {
    const enrolment = join(root, `${domain}.json`)
    const publicKey = join(root, 'root.pub.pem')
    const which = ['--domain', domain, '--root-public', publicKey, '--enrolment', enrolment]
    await run('provision', ...which, ...keys.options(domain))
    enrolments.push(enrolment)
  }
  const signed = join(root, 'registry.json')
  await run(
    ...['sign-registry', '--root', join(root, 'root.pem'), '--out', signed],
    ...['--chains', chainsFile, '--enrolments', ...enrolments],
  )
  await run('install-registry', signed)
}

function chainsFileAt(home: string, rpcUrl: string): string {
  const path = join(home, 'chains.json')
  const chain = chainConfig(8453, { rpc_urls: [rpcUrl], router: null })
  writePublicFile(path, Buffer.from(JSON.stringify({ chains: [chain] })))
  return path
}

/** Runs a process that must end by itself. */
function ended(
  entry: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entry], { env: { ...process.env, ...env } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

/**
 * What a live installation does, wherever its keys are: provisioned, started, and used.
 * @param keysIn makes the keys of an installation in that home
 * @param further tests of its own, which run first
 */
export function describeLive(
  title: string,
  keysIn: (home: string) => LiveKeys,
  further: (home: () => string) => void = () => undefined,
): void {
  describe(title, () => {
    let anvil: Anvil
    let home: string
    let env: Record<string, string> = {}
    let coSigner: ConnectedCoSigner | undefined
    let second: SecondNode | null = null
    const domains: Child[] = []

    beforeAll(async () => {
      anvil = await startAnvil({ chainId: 8453, args: ['--block-time', '1'] })
      home = mkdtempSync(join(tmpdir(), 'cs-live-'))
      const keys = keysIn(home)
      Object.assign(process.env, keys.env)
      env = { COUNTERSIGN_HOME: home, COUNTERSIGN_MODE: 'live', ...keys.env }
      await provisionLive(home, anvil.url, keys)
      await createUser(join(home, 'identity-provider'), USER.email, USER.password)
      domains.push(
        await startChild('dist/src/identity-provider/main.js', { ...env, IDENTITY_PORT: '0' }),
        await startChild('dist/src/quorum-signer/main.js', env),
      )
    })
    afterAll(async () => {
      for (const name of Object.keys(env)) delete process.env[name]
      await coSigner?.close()
      await second?.remove()
      await Promise.all(domains.map((domain) => domain.kill()))
      await anvil?.stop()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    })

    further(() => home)

    test('a wallet is made and a transaction signed by all three domains', async () => {
      coSigner = await connectCoSigner({
        home,
        mode: 'live',
        boot: lastServiceBoot(home, systemTimers()),
        timers: systemTimers(),
        log: pino({ level: 'silent' }),
      })
      expect(await coSigner.whenReady(READY_MS)).toBe(true)
      const walletId = newWalletId()
      const { address } = await coSigner.createServiceWallet(walletId)
      // A gas wallet's own cancel: it needs no Router, and nobody's grant.
      const outcome = await coSigner.sign({
        walletId,
        keyId: null,
        requestId: Buffer.alloc(16, 1),
        proofKey: null,
        replaces: null,
        payload: transfer(0, { to: address, value: 0n }),
      })
      expect(outcome).toMatchObject({ ok: true, rawTransaction: expect.stringMatching(/^0x02/) })
      await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])
      const raw = outcome.ok ? outcome.rawTransaction : null
      expect(await anvil.rpc('eth_sendRawTransaction', [raw])).toMatch(/^0x[0-9a-f]{64}$/)
      await expect
        .poll(() => anvil.rpc('eth_getTransactionCount', [address, 'latest']), {
          timeout: READY_MS,
        })
        .toBe('0x1')
    })

    test('the service refuses to start without a screening list, and starts with one', async () => {
      const port = await freePort()
      const { issuer } = JSON.parse(
        readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8'),
      ) as { issuer: string }
      second = await secondNode()
      const serviceEnv = {
        ...{ ...env, ...second?.env },
        ...{ PORT: String(port), IDENTITY_ISSUER: issuer },
      }
      await expect(startChild('dist/src/main.js', serviceEnv)).rejects.toThrow(/list/)
      const list = join(home, 'listed.txt')
      writeFileSync(list, `${LISTED}\n`)
      await countersignOk(home, ['lists', 'import', list, '--source', 'file', '--name', 'own'], env)
      const service = await startChild('dist/src/main.js', serviceEnv)
      domains.push(service)
      const url =
        (await second?.start(home, serviceEnv, join(home, 'offline', 'root.pem'))) ??
        `http://127.0.0.1:${port}`
      // What it can sign with is there; what it screens against is not, without the chain's oracle.
      await expect
        .poll(async () => (await fetch(`${url}/readyz`)).json(), { timeout: READY_MS })
        .toMatchObject({
          status: 'not_ready',
          parts: {
            quorum: { status: 'up' },
            lists: { status: 'down' },
          },
        })
      const token = await mintConsoleToken({ issuer, ...USER })
      const detailed = await fetch(`${url}/api/v1/agent/service`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await detailed.json()).toMatchObject({
        readiness: { parts: { lists: { reason: expect.stringContaining('mirrored') } } },
      })
      const made = await fetch(`${url}/api/v1/agent/wallets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'treasury' }),
      })
      const answer = (await made.json()) as { addresses?: { evm?: string } }
      expect(made.status).toBe(201)
      expect(answer.addresses?.evm).toMatch(/^0x[0-9a-fA-F]{40}$/)
      await second?.stop()
      await service.stop()
    })

    test('25: the service starts without the native curve as little as the others', async () => {
      const hook = join(home, 'without-binding.cjs')
      writeFileSync(
        hook,
        `const Module = require('node:module')
         const load = Module._load
         Module._load = function (name, ...rest) {
           if (name === 'secp256k1/bindings.js') throw new Error('no prebuilt binary')
           return load.call(this, name, ...rest)
         }`,
      )
      const crippled = { ...env, ...second?.env, PORT: '0', NODE_OPTIONS: `--require ${hook}` }
      for (const entry of ['identity-provider', 'quorum-signer']) {
        const starting = startChild(`dist/src/${entry}/main.js`, {
          ...crippled,
          IDENTITY_PORT: '0',
        })
        await expect(starting).rejects.toThrow(/no prebuilt binary/)
      }
      // A thread of the service says why on the log, and the service ends.
      const { code, output } = await ended('dist/src/main.js', crippled)
      expect(code).toBe(1)
      expect(output).toContain('no prebuilt binary')
    })
  })
}
