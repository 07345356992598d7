import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Child, startChild } from '../../bench/child-process.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { systemTimers } from '../../src/clock/timers.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import {
  type Address,
  type KeyId,
  type SubWalletId,
  type UserId,
  ulidBody,
} from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import {
  type ConnectedCoSigner,
  connectCoSigner,
} from '../../src/service-custody/connect-co-signer.js'
import { deriveProofKey } from '../../src/service-custody/key-proof.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'

/** The real identity provider and the real quorum signer, for any set of chains. */
export interface Quorum {
  readonly home: string
  readonly coSigner: ConnectedCoSigner
  readonly userId: UserId
  /** A wallet whose key has a trade grant on all chains. */
  createWallet(): Promise<QuorumWallet>
  close(): Promise<void>
}

export interface QuorumWallet {
  readonly subWalletId: SubWalletId
  readonly keyId: KeyId
  readonly address: Address
  readonly proofKey: Uint8Array
}

const USER = { email: 'ada@example.test', password: 'correct horse battery staple' }
const READY_TIMEOUT_MS = 30_000
const CEILING_WEI = '10000000000000'

/** @param chainIds what keys are granted */
export async function startQuorum(chainIds: readonly number[]): Promise<Quorum> {
  const home = mkdtempSync(join(tmpdir(), 'cs-faults-'))
  const domains: Child[] = []
  let coSigner: ConnectedCoSigner | null = null
  const start = async (entry: string, env: Record<string, string> = {}): Promise<void> => {
    domains.push(await startChild(entry, { COUNTERSIGN_HOME: home, ...env }))
  }
  async function close(): Promise<void> {
    await coSigner?.close()
    await Promise.all(domains.map((domain) => domain.kill()))
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    writeFileSync(join(home, 'dev-user.json'), JSON.stringify(USER))
    await provisionDev(home, {
      chains: chainIds.map((chain_id) => ({
        chain_id,
        router: null,
        delegate: null,
        max_fee_per_gas_wei: CEILING_WEI,
      })),
    })
    await Promise.all([
      start('dist/src/identity-provider/main.js', { IDENTITY_PORT: '0' }),
      start('dist/src/quorum-signer/main.js'),
    ])
    const issuerFile = readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8')
    const { issuer } = JSON.parse(issuerFile) as { issuer: string }
    const consoleToken = await mintConsoleToken({ issuer, ...USER })
    const userId = subjectOf(consoleToken) as UserId
    const connected = await connectCoSigner({
      home,
      mode: 'dev',
      boot: lastServiceBoot(home, systemTimers()),
      timers: systemTimers(),
      log: pino({ level: 'silent' }),
    })
    coSigner = connected
    if (!(await connected.whenReady(READY_TIMEOUT_MS))) throw new Error('quorum not ready')
    return {
      home,
      coSigner: connected,
      userId,
      close,
      async createWallet() {
        const subWalletId = newId('sw_') as SubWalletId
        const keyId = newId('key_') as KeyId
        const { address } = await connected.createWallet(subWalletId, userId)
        const proofKey = deriveProofKey(`sk_test_${randomBytes(16).toString('hex')}`)
        await connected.putGrant({
          ...grantedOf(INITIAL_POLICY),
          keyId,
          rotatedFrom: null,
          walletId: subWalletId,
          userId,
          permission: 'trade',
          allowedChains: chainIds,
          proofKey,
          expiresAt: null,
          revoked: false,
          consoleToken,
          effect: 'enlarges',
          authorization: null,
        })
        return { subWalletId, keyId, address, proofKey }
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function newId(prefix: string): string {
  return prefix + ulidBody(Date.now(), randomBytes(10))
}

function subjectOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return String((claims as { sub: unknown }).sub)
}
