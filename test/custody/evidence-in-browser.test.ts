import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyEvidenceFile } from '../../src/console/audit/verify/verify-file.js'
import { readGrantStatement } from '../../src/custody/authorizers/grant-statement.js'
import { serviceLayout } from '../../src/custody/domain-keys/layout.js'
import {
  type BatchEvidence,
  decodeBatchEvidence,
  decodeWalletEvidence,
  encodeBatchEvidence,
  encodeWalletEvidence,
} from '../../src/custody/evidence/evidence-records.js'
import {
  chainHash,
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
} from '../../src/custody/evidence/stored-evidence.js'
import { rawPublicKey } from '../../src/quorum-protocol/p256.js'
import { registryMessage } from '../../src/quorum-protocol/registry.js'
import { countersignOk } from './command.js'
import {
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet
let lines: string[]

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
  for (let nonce = 0; nonce < 3; nonce++) {
    await signed(quorum, requestOf(wallet, transfer(nonce)))
  }
  const file = join(quorum.home, 'evidence.ndjson')
  await countersignOk(quorum.home, ['verify-audit', '--export', file])
  lines = readFileSync(file, 'utf8').trimEnd().split('\n')
})
afterAll(() => quorum?.close())

const problemsOf = async (forged: readonly string[]) => (await verified(forged)).problems

describe('evidence in a browser, with every hash made anew by a forger', () => {
  test('holds when nothing was changed', async () => {
    const found = await verified(forgedLines(({ body }) => body))
    expect(found).toMatchObject({ problems: [], problemsInAll: 0, approvals: 3, wallets: 1 })
  })

  test.each(['service', 'identity'] as const)(
    'a co-signature, an approval, a payload and a bitmap that were changed are found in the %s log',
    async (of) => {
      const changes: ((batch: BatchEvidence) => BatchEvidence)[] = [
        (batch) => ({ ...batch, coSignature: flipped(batch.coSignature, 40) }),
        (batch) => ({ ...batch, approval: flipped(batch.approval, 40) }),
        (batch) => ({
          ...batch,
          intents: batch.intents.map((intent) => flipped(intent, intent.length - 2)),
        }),
        (batch) => ({ ...batch, bitmap: batch.bitmap ^ 1 }),
        (batch) => ({ ...batch, header: flipped(batch.header, 20) }),
      ]
      for (const change of changes) {
        const problems = await problemsOf(
          forgedLines(({ log, kind, body }) =>
            log === of && kind === EVIDENCE_KIND.batch
              ? encodeBatchEvidence(change(decodeBatchEvidence(body)))
              : body,
          ),
        )
        expect(problems.join()).toMatch(/log: signatures of entry \d+ do not verify/)
      }
    },
  )

  test('a wallet that its own key or a side has not signed is found, and what it approved', async () => {
    for (const field of ['selfTest', 'serviceSignature', 'userSignature'] as const) {
      const problems = await problemsOf(
        forgedLines(({ kind, body }) => {
          if (kind !== EVIDENCE_KIND.wallet) return body
          const evidence = decodeWalletEvidence(body)
          return encodeWalletEvidence({ ...evidence, [field]: flipped(evidence[field], 20) })
        }),
      )
      expect(problems.join()).toMatch(/wallet certificate in entry \d+ does not verify/)
      expect(problems.join()).toMatch(/no certificate of its wallet/)
    }
  })

  test('a grant without its proof, and one that is not there, are found', async () => {
    const unproven = forgedLines(({ kind, body }) =>
      kind === EVIDENCE_KIND.grant ? readGrantStatement(body).encoded : body,
    )
    expect((await problemsOf(unproven)).join()).toMatch(
      /grant in entry \d+ enlarges without the proof of an authorizer/,
    )
    const without = forgedLines(({ kind, body }) => (kind === EVIDENCE_KIND.grant ? null : body))
    expect((await problemsOf(without)).join()).toMatch(
      /its grant is not in the identity provider's log/,
    )
  })

  test('an approval that is in one log alone is found, or counted as an answer that was lost', async () => {
    const takenFrom = (of: string) => {
      let seen = 0
      return forgedLines(({ log, kind, body }) =>
        log === of && kind === EVIDENCE_KIND.batch && seen++ === 0 ? null : body,
      )
    }
    expect((await problemsOf(takenFrom('identity'))).join()).toMatch(
      /service log: approval \w+ is not in the identity provider's log/,
    )
    expect((await verified(takenFrom('service'))).lostAnswers).toBe(1)
  })

  test('another registry is refused, or shown to be of another root', async () => {
    const header = JSON.parse(lines[0] ?? '')
    const body = Buffer.from(header.registry.body, 'base64')
    const withRegistry = (registry: object) =>
      lines.with(0, JSON.stringify({ ...header, registry: { ...header.registry, ...registry } }))
    const raised = flipped(body, body.length - 3).toString('base64')
    await expect(verified(withRegistry({ body: raised }))).rejects.toThrow(/not signed by the root/)

    const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = { key: own.privateKey, dsaEncoding: 'ieee-p1363' } as const
    const forged = withRegistry({
      signature: sign('sha256', registryMessage(body), key).toString('base64'),
      root: rawPublicKey(own.publicKey).toString('base64'),
    })
    const [asItIs, another] = [await verified(lines), await verified(forged)]
    expect(another.registry.root).not.toBe(asItIs.registry.root)
    const der = createPublicKey(readFileSync(serviceLayout(quorum.home).rootKey)).export({
      ...{ type: 'spki', format: 'der' },
    } as const)
    expect(asItIs.registry.root).toBe(createHash('sha256').update(der).digest('hex'))
  })

  test('a file of before, or with a log that comes back to a chain, is refused in words', async () => {
    const old = [JSON.stringify({ format: 'countersign-evidence/1' }), ...lines.slice(1)]
    await expect(verified(old)).rejects.toThrow(/Export it again/)
    await expect(verified([...lines, lines[1] ?? ''])).rejects.toThrow(/damaged after/)
  })
})

interface Entry {
  readonly log: string
  readonly kind: number
  readonly body: Uint8Array
}

/** @param change null takes the entry out, and numbers those after it anew */
function forgedLines(change: (entry: Entry) => Uint8Array | null): string[] {
  const heads = new Map<string, { hash: Uint8Array; index: number }>()
  const forged = lines.slice(1).flatMap((line) => {
    const { log, chain, entry } = JSON.parse(line)
    const bytes = Buffer.from(entry, 'base64')
    const stamp = bytes.subarray(EVIDENCE_HASH_BYTES, EVIDENCE_HASH_BYTES + 9)
    const body = change({
      ...{ log, kind: stamp[8] ?? 0 },
      body: bytes.subarray(EVIDENCE_HASH_BYTES + 9),
    })
    if (body === null) return []
    const name = `${log} ${chain}`
    const { hash: before, index } = heads.get(name) ?? {
      ...{ hash: Buffer.alloc(EVIDENCE_HASH_BYTES), index: 0 },
    }
    const content = Buffer.concat([stamp, body])
    const hash = chainHash(before, chain, index, content)
    heads.set(name, { hash, index: index + 1 })
    const stored = Buffer.concat([hash, content]).toString('base64')
    return [JSON.stringify({ log, chain, index, entry: stored })]
  })
  return [lines[0] ?? '', ...forged]
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const out = Buffer.from(bytes)
  out[at] = (out[at] ?? 0) ^ 1
  return out
}

function verified(of: readonly string[]) {
  async function* pieces() {
    yield Buffer.from(of.map((line) => `${line}\n`).join(''))
  }
  return verifyEvidenceFile(pieces(), () => {})
}
