import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { expectBytes, expectList } from '../../src/quorum-protocol/bytes.js'
import { pointOf, randomScalar } from '../../src/quorum-protocol/curve.js'
import {
  commitmentOf,
  type KeygenTerms,
  proveShare,
  transcriptOf,
} from '../../src/quorum-protocol/keygen.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'
import {
  newWalletId,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  startQuorum,
  transfer,
} from './harness.js'
import { becomeService, type HostileService, intentFor, judged } from './hostile.js'

let quorum: Quorum
let service: HostileService

beforeAll(async () => {
  quorum = await startQuorum()
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

describe('17: a crash before both sides have acknowledged', () => {
  test('leaves no address and no key that signs; the wallet can be created afterwards', async () => {
    const walletId = newWalletId()
    await generateUpToProof(service, ulidBytes(walletId), quorum.userId)
    await quorum.identityProvider.kill()
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)

    await expect.poll(() => service.userSide.connected).toBe(true)
    await service.nextSeq()
    expect(await service.userSide.call('keygen-status', [ulidBytes(walletId)])).toBeNull()
    const half: ReadyWallet = {
      walletId,
      keyId: 'key_00000000000000000000000000' as ReadyWallet['keyId'],
      address: '0x',
      proofKey: randomBytes(32),
    }
    expect(await judged(service, (seq) => intentFor(half, transfer(0), seq))).toBe('UNKNOWN_WALLET')

    const { address } = await quorum.coSigner.createWallet(walletId, quorum.userId)
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  })

  test('of the service at any moment publishes nothing that does not sign afterwards', async () => {
    for (const delayMs of [0, 2, 5, 10]) {
      const walletId = newWalletId()
      const printed = await createAndDie(walletId, delayMs)
      const create = () => quorum.coSigner.createWallet(walletId, quorum.userId)
      // What the dying one began may end in the midst of this one, which then is in conflict.
      const { address } = await create().catch(create)
      // What was published before the end is what there is; and both sides hold its shares.
      if (printed !== '') expect(printed).toBe(address)
      expect((await create()).address).toBe(address)
    }
  })

  test('a key in use is never replaced by another generation', async () => {
    const walletId = newWalletId()
    const { address } = await quorum.coSigner.createWallet(walletId, quorum.userId)
    await expect(
      generateUpToProof(service, ulidBytes(walletId), quorum.userId),
    ).rejects.toMatchObject({ code: 'CONFLICT' })
    const again = await quorum.coSigner.createWallet(walletId, quorum.userId)
    expect(again.address).toBe(address)
  })
})

/**
 * Another process of the service asks for a wallet and is killed with SIGKILL so long after.
 * @returns the address when it was published before the end; empty otherwise
 */
function createAndDie(walletId: string, delayMs: number): Promise<string> {
  // In a thread, as the service does: each thread writes an evidence chain of its own.
  const program = `
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(`
      const { workerData } = require('node:worker_threads')
      const path = require('node:path')
      Promise.all(['service-custody/connect-co-signer', 'clock/timers'].map((name) =>
        import(path.resolve('dist/src/' + name + '.js')))).then(async ([module, { systemTimers }]) => {
        const log = { info() {}, warn() {}, error() {} }
        const { home, walletId, userId } = workerData
        const boot = Buffer.from(workerData.boot, 'hex')
        const coSigner = await module.connectCoSigner({ home, mode: 'dev', boot, log, timers: systemTimers() })
        await coSigner.whenReady(60000)
        require('node:fs').writeSync(1, 'asking ')
        const { address } = await coSigner.createWallet(walletId, userId)
        require('node:fs').writeSync(1, address)
      })`)}, { eval: true, workerData: ${JSON.stringify({ home: quorum.home, boot: lastServiceBoot(quorum.home, systemTimers()).toString('hex'), walletId, userId: quorum.userId })} })
    setInterval(() => {}, 1000)`
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', program], {
      env: { ...process.env, COUNTERSIGN_MODE: 'dev' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      if (output === '') setTimeout(() => child.kill('SIGKILL'), delayMs)
      output += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', () => resolve(output.replace('asking ', '').trim()))
  })
}

/** Key generation as far as the user side's stored share, by hand; then nothing more. */
async function generateUpToProof(
  { userSide }: HostileService,
  walletId: Uint8Array,
  userId: string,
): Promise<void> {
  const terms: KeygenTerms = {
    sessionId: randomBytes(16),
    walletId,
    kind: 'user',
    ownerHash: sha256(Buffer.from(userId)),
    epoch: 1,
  }
  const share = randomScalar()
  const own = { point: pointOf(share), nonce: randomBytes(32) }
  const commitment = commitmentOf('service', own, terms.sessionId)
  const parameters = [terms.sessionId, walletId, 1, terms.ownerHash, commitment]
  const [userCommitment] = expectList(await userSide.call('keygen-commit', parameters), 1)
  const [point, nonce] = expectList(
    await userSide.call('keygen-reveal', [terms.sessionId, own.point, own.nonce]),
    2,
  )
  const user = {
    point: expectBytes(point),
    nonce: expectBytes(nonce),
    commitment: expectBytes(userCommitment),
  }
  const transcript = transcriptOf(terms, { ...own, commitment }, user)
  await userSide.call('keygen-prove', [terms.sessionId, proveShare('service', transcript, share)])
}
