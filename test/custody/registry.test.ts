import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registryPath, rootPrivateKeyPath } from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile } from '../../src/custody/domain-keys/registry-file.js'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import {
  type RegistryBody,
  type RegistryEnvelope,
  registryMessage,
} from '../../src/quorum-protocol/registry.js'
import { type Quorum, type ReadyWallet, readyWallet, startQuorum, transfer } from './harness.js'
import {
  approve,
  becomeService,
  coSign,
  type HostileService,
  intentFor,
  judged,
  refusalOf,
  sealOwn,
  sign,
  strangerKey,
} from './hostile.js'

let quorum: Quorum
let service: HostileService
let wallet: ReadyWallet
let root: P256Signer
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
  service = await becomeService(quorum)
  root = p256SignerOf(createPrivateKey(readFileSync(rootPrivateKeyPath(quorum.home))))
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

describe('19: co-signer keys', () => {
  test('a registry that the root did not sign is refused by both domains', async () => {
    const next = { ...currentBody(), version: 2 }
    const forged = await envelope(next, strangerKey())
    expect(await refusalOf(offer(forged))).toBe('UNAUTHENTIC')
    const genuine = await envelope(next, root)
    const tampered = { ...genuine, body: Buffer.from(JSON.stringify({ ...next, version: 3 })) }
    expect(await refusalOf(offer(tampered))).toBe('UNAUTHENTIC')
  })

  test('a new key signs from its version on, and the old one for its overlap', async () => {
    const fresh = strangerKey()
    const body = currentBody()
    const overlapEndsMs = Date.now() + 600_000
    await offer(
      await envelope(
        {
          ...body,
          version: 4,
          co_signers: [
            ...body.co_signers.map((row) => ({ ...row, not_after_ms: overlapEndsMs })),
            {
              public_key: fresh.publicKey.toString('hex'),
              not_before_ms: Date.now() - 1,
              not_after_ms: null,
            },
          ],
        },
        root,
      ),
    )
    const rotated = { ...service, signer: fresh }
    expect(await judged(rotated, (seq) => intentFor(wallet, transfer(nonce++), seq))).toBe(
      'approved',
    )
    expect(await judged(service, (seq) => intentFor(wallet, transfer(nonce++), seq))).toBe(
      'approved',
    )
  })

  test('an older registry does not come back', async () => {
    const old = await envelope({ ...currentBody(), version: 1 }, root)
    const answer = await service.quorum.call('registry', [old.body, old.signature])
    expect(answer).toBe(4)
  })

  test('a retired key signs nothing, at neither domain', async () => {
    const [seq, later] = [await service.nextSeq(), await service.nextSeq()]
    const made = async (at: number) =>
      coSign(service.signer, at, [intentFor(wallet, transfer(nonce++), at)])
    const batch = await made(seq)
    const approval = await approve(service, batch)
    const body = currentBody()
    const retired = body.co_signers.map((row) => ({ ...row, not_after_ms: Date.now() - 1 }))
    const last = await envelope({ ...body, version: 5, co_signers: retired }, root)
    // Whoever has that key alone is no service any more, either.
    expect(await refusalOf(offer(last))).toBe('UNAUTHENTIC')
    const own = sealOwn(service, wallet, batch.ids)
    expect(await refusalOf(sign(service, batch, approval, approval.shares, own))).toBe(
      'UNAUTHENTIC',
    )
    expect(await refusalOf(approve(service, await made(later)))).toBe('UNAUTHENTIC')
  })
})

function currentBody(): RegistryBody {
  const { body } = readRegistryFile(registryPath(quorum.home))
  return JSON.parse(Buffer.from(body).toString('utf8')) as RegistryBody
}

async function envelope(body: RegistryBody, signer: P256Signer): Promise<RegistryEnvelope> {
  const bytes = Buffer.from(JSON.stringify(body))
  return { body: bytes, signature: await signer.sign(registryMessage(bytes)) }
}

async function offer(registry: RegistryEnvelope): Promise<void> {
  const { body, signature } = registry
  const quorumCall = service.quorum.call('registry', [body, signature])
  const userCall = service.hello(registry)
  await Promise.allSettled([quorumCall, userCall])
  await quorumCall
  await userCall
}
