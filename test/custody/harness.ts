import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Child, startChild } from '../../bench/child-process.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { RouterIntent } from '../../src/contracts/router-intent-type.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { type Address, type KeyId, type SubWalletId, ulidBody } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { RegistryChain } from '../../src/quorum-protocol/registry.js'
import type { TransactionPayload } from '../../src/quorum-protocol/sign-payload.js'
import type { GrantUpdate, SignOutcome, SignRequest } from '../../src/service-custody/co-signer.js'
import {
  type ConnectedCoSigner,
  connectCoSigner,
} from '../../src/service-custody/connect-co-signer.js'
import { deriveProofKey } from '../../src/service-custody/key-proof.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'
import { freePort } from '../support/ports.js'

/** A home of its own with the real identity provider and the real quorum signer. */
export const ROUTER: Address = '0x1111111111111111111111111111111111111111'
export const DELEGATE: Address = '0x2222222222222222222222222222222222222222'
export const STRANGER: Address = '0x3333333333333333333333333333333333333333'
const CEILING_WEI = 500n * 10n ** 9n

/** Where the passkeys of these tests live; no browser goes there. */
export const WEBAUTHN = { rp_id: 'example.test', origins: ['https://id.example.test'] }

/** A restarted domain has sessions with the service within a second, or when the machine lets it. */
export const READY_MS = 60_000
export const USER = { email: 'ada@example.test', password: 'correct horse battery staple' }

export interface Quorum {
  readonly home: string
  coSigner: ConnectedCoSigner
  readonly userId: string
  readonly consoleToken: string
  identityProvider: Child
  quorumSigner: Child
  startIdentityProvider(env?: Readonly<Record<string, string>>): Promise<Child>
  startQuorumSigner(): Promise<Child>
  /** The service again, after `coSigner.close()`. */
  connect(): Promise<void>
  /** Ends every process and removes the home. */
  close(): Promise<void>
}

export function testChains(): RegistryChain[] {
  return [1, 8453].map((chain_id) => ({
    chain_id,
    router: ROUTER,
    delegate: DELEGATE,
    max_fee_per_gas_wei: CEILING_WEI.toString(),
  }))
}

export async function startQuorum(): Promise<Quorum> {
  const home = mkdtempSync(join(tmpdir(), 'cs-'))
  const domains: Child[] = []
  const start = async (entry: string, env: Record<string, string> = {}): Promise<Child> => {
    const domain = await startChild(entry, { COUNTERSIGN_HOME: home, ...env })
    domains.push(domain)
    return domain
  }
  // The same at each start, so that tokens stay valid; no other process takes it meanwhile.
  const port = String(await freePort())
  const startIdentityProvider = (env: Readonly<Record<string, string>> = {}) =>
    start('dist/src/identity-provider/main.js', { IDENTITY_PORT: port, ...env })
  const startQuorumSigner = () => start('dist/src/quorum-signer/main.js')
  let running: Quorum | null = null

  async function close(): Promise<void> {
    await running?.coSigner.close()
    await Promise.all(domains.map((domain) => domain.kill()))
    rmSync(home, { recursive: true, force: true })
  }

  try {
    writeFileSync(join(home, 'dev-user.json'), JSON.stringify(USER))
    await provisionDev(home, { chains: testChains(), webauthn: WEBAUTHN })
    const [identityProvider, quorumSigner] = await Promise.all([
      startIdentityProvider(),
      startQuorumSigner(),
    ])
    const consoleToken = await signIn(home)
    const quorum: Quorum = {
      home,
      coSigner: await connected(home),
      userId: subjectOf(consoleToken),
      consoleToken,
      identityProvider,
      quorumSigner,
      startIdentityProvider,
      startQuorumSigner,
      async connect() {
        quorum.coSigner = await connected(home)
      },
      close,
    }
    running = quorum
    return quorum
  } catch (error) {
    await close()
    throw error
  }
}

async function connected(home: string): Promise<ConnectedCoSigner> {
  const coSigner = await connectCoSigner({
    home,
    mode: 'dev',
    boot: lastServiceBoot(home, systemTimers()),
    timers: systemTimers(),
    log: pino({ level: 'silent' }),
  })
  if (await coSigner.whenReady(READY_MS)) return coSigner
  await coSigner.close()
  throw new Error('quorum not ready')
}

/** The port of the start before, so that tokens stay valid across a restart. */
export function issuerPort(home: string): string {
  return new URL(issuerAt(home)).port
}

function issuerAt(home: string): string {
  const text = readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8')
  return (JSON.parse(text) as { issuer: string }).issuer
}

function signIn(home: string): Promise<string> {
  return mintConsoleToken({ issuer: issuerAt(home), ...USER })
}

function subjectOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return String((claims as { sub: unknown }).sub)
}

export function newWalletId(): SubWalletId {
  return `sw_${ulidBody(Date.now(), randomBytes(10))}` as SubWalletId
}

export function newKeyId(): KeyId {
  return `key_${ulidBody(Date.now(), randomBytes(10))}` as KeyId
}

/** A wallet with one trade key on both test chains. */
export interface ReadyWallet {
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly address: Address
  readonly proofKey: Uint8Array
}

export async function readyWallet(
  quorum: Quorum,
  chains = [1, 8453],
  terms: Partial<GrantUpdate> = {},
): Promise<ReadyWallet> {
  const { coSigner, userId, consoleToken } = quorum
  const walletId = newWalletId()
  const keyId = newKeyId()
  const { address } = await coSigner.createWallet(walletId, userId)
  const proofKey = deriveProofKey(`sk_test_${randomBytes(16).toString('hex')}`)
  await coSigner.putGrant({
    ...grantedOf(INITIAL_POLICY),
    keyId,
    rotatedFrom: null,
    walletId,
    userId,
    permission: 'trade',
    allowedChains: chains,
    proofKey,
    expiresAt: null,
    revoked: false,
    consoleToken,
    effect: 'enlarges',
    authorization: null,
    ...terms,
  })
  return { walletId, keyId, address, proofKey }
}

export function transfer(nonce: number, change: Partial<TransactionPayload> = {}) {
  return {
    type: 'transaction',
    chainId: 8453,
    nonce,
    to: STRANGER,
    value: 1_000n,
    data: '0x',
    gasLimit: 21_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    ...change,
  } satisfies TransactionPayload
}

/** Of the account, for five minutes. */
export function routerIntent(account: Address): RouterIntent {
  return {
    account,
    tokenIn: STRANGER,
    amountIn: 5_000n,
    feeBps: 30,
    tokenOut: DELEGATE,
    minOut: 1n,
    target: STRANGER,
    nonce: 7n,
    deadline: Math.floor(Date.now() / 1_000) + 300,
    data: '0x12345678',
  }
}

export function requestOf(
  wallet: ReadyWallet,
  payload: SignRequest['payload'],
  change: Partial<SignRequest> = {},
): SignRequest {
  return {
    walletId: wallet.walletId,
    keyId: wallet.keyId,
    requestId: randomBytes(16),
    proofKey: wallet.proofKey,
    replaces: null,
    payload,
    ...change,
  }
}

/** The outcome of a signature that must succeed. */
export async function signed(
  quorum: Quorum,
  request: SignRequest,
): Promise<Extract<SignOutcome, { ok: true }>> {
  const outcome = await quorum.coSigner.sign(request)
  if (!outcome.ok) throw new Error(`refused: ${outcome.reason} ${outcome.detail ?? ''}`)
  return outcome
}
