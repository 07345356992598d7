import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { createRequire } from 'node:module'
import type * as Secp256k1 from 'secp256k1'
import { Bench } from 'tinybench'
import { createApiKeyAuthenticator } from '../src/auth/api-key.js'
import { systemTimers } from '../src/clock/timers.js'
import type { ApiKey } from '../src/domain/api-key.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../src/domain/ids.js'
import { INITIAL_POLICY } from '../src/domain/key-policy.js'
import { newKeySecret } from '../src/operations/console/key-secret.js'
import { KNOWN_SHAPES } from '../src/screening/walk/known-shapes.js'
import { walkCalldata } from '../src/screening/walk/walker.js'
import { deriveProofKey } from '../src/service-custody/key-proof.js'
import { openEnvironment } from '../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../src/store/event-sequence.js'
import { localCommits } from '../src/store/local-commits.js'
import { createReader } from '../src/store/reader.js'
import { WriteBatch } from '../src/store/write-batch.js'
import { makeDirectory } from './temporary.js'

/** The parts of the write path, each by itself on one core. */
export interface PartFigure {
  readonly name: string
  readonly perSecond: number
  readonly p50Micros: number
  readonly p99Micros: number
}

const TASK_MS = 500
const BATCH_RECORDS = 32

const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Secp256k1

export async function measureParts(): Promise<readonly PartFigure[]> {
  const directory = makeDirectory()
  const environment = openEnvironment(directory.path)
  try {
    const bench = new Bench({ time: TASK_MS, warmupTime: 100 })
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const message = randomBytes(256)
    const signature = sign('sha256', message, privateKey)
    bench.add('P-256 sign', () => {
      sign('sha256', message, privateKey)
    })
    bench.add('P-256 verify', () => {
      verify('sha256', message, publicKey, signature)
    })
    const digest = randomBytes(32)
    const scalar = randomBytes(32)
    const point = native.publicKeyCreate(scalar)
    const { signature: bare } = native.ecdsaSign(digest, scalar)
    bench.add('secp256k1 sign', () => {
      native.ecdsaSign(digest, scalar)
    })
    bench.add('secp256k1 verify', () => {
      native.ecdsaVerify(bare, digest, point)
    })

    const { secret, secretHash, secretPrefix } = newKeySecret(
      'test',
      'usr_bench' as UserId,
      systemTimers(),
    )
    const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
    const first = new WriteBatch()
    first.putApiKey(sampleKey(secretHash, secretPrefix))
    await localCommits(environment, sequence).commit(first)
    const reader = createReader(environment)
    const authenticator = createApiKeyAuthenticator({
      reader: {
        byHash: (hash) => reader.keys.byHash(hash) ?? null,
        byId: (id) => reader.keys.byId(id) ?? null,
      },
      environment: 'test',
      deriveProofKey,
      nowMs: Date.now,
    })
    bench.add('API key, cached', () => {
      authenticator.authenticate(secret)
    })
    bench.add('API key, from LMDB', () => {
      authenticator.invalidate(secretHash)
      authenticator.authenticate(secret)
    })
    const transfer = Buffer.from(
      `a9059cbb${'0'.repeat(24)}${'ab'.repeat(20)}${'0'.repeat(56)}000f4240`,
      'hex',
    )
    bench.add('walk an ERC-20 transfer', () => {
      walkCalldata(KNOWN_SHAPES, transfer, transfer.length)
    })
    let n = 0
    bench.add(`LMDB batch of ${BATCH_RECORDS}, synced`, async () => {
      const batch = new WriteBatch()
      for (let i = 0; i < BATCH_RECORDS; i++) {
        batch.putApiKey(
          sampleKey(`${secretHash.slice(8)}${(n++).toString(16).padStart(8, '0')}`, 'x'),
        )
      }
      await localCommits(environment, sequence).commit(batch)
    })
    await bench.run()
    return bench.tasks.map(({ name, result }) => {
      if (!('latency' in result)) throw new Error(`${name} was not measured`)
      const { p50, p99 } = result.latency
      return { name, perSecond: 1_000 / p50, p50Micros: p50 * 1_000, p99Micros: p99 * 1_000 }
    })
  } finally {
    await environment.root.close()
    directory.remove()
  }
}

function sampleKey(secretHash: string, secretPrefix: string): ApiKey {
  return {
    ...INITIAL_POLICY,
    keyId: `key_${secretHash.slice(-26).toUpperCase()}` as KeyId,
    lineageId: 'key_bench' as LineageId,
    subWalletId: 'sw_bench' as SubWalletId,
    userId: 'user_bench' as UserId,
    name: 'bench',
    permission: 'trade',
    allowedChains: [1, 10, 56, 137, 8453, 42161],
    environment: 'test',
    secretHash,
    secretPrefix,
    createdAtMs: 0,
    rotatedFrom: null,
    rotatedAtMs: null,
    revokedAtMs: null,
  }
}
