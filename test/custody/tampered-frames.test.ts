import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityProviderSocket, quorumSignerSocket } from '../../src/custody/domain-keys/layout.js'
import {
  type Quorum,
  READY_MS,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'
import {
  approve,
  becomeService,
  coSign,
  type HostileService,
  intentFor,
  sealOwn,
} from './hostile.js'

const TAMPERED_RUNS = Number(process.env.TAMPERED_RUNS ?? 10_000)
const ANSWER_TIMEOUT_MS = 20_000

let quorum: Quorum
let service: HostileService
let wallet: ReadyWallet

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

const packr = new Packr({ useRecords: false, moreTypes: false })

describe('no tampered message', () => {
  test(`yields a signature or ends the quorum signer (${TAMPERED_RUNS} frames)`, async () => {
    const seq = await service.nextSeq()
    const batch = await coSign(service.signer, seq, [
      intentFor(wallet, transfer(500), seq, { expiresAtMs: Date.now() + 29_000 }),
    ])
    const approval = await approve(service, batch)
    const own = sealOwn(service, wallet, batch.ids)
    const call = [
      batch.header,
      batch.intents,
      batch.coSignature,
      approval.bitmap,
      approval.signature,
      approval.shares,
      own,
    ]
    const honest = packr.pack([1, 'sign', call])
    // A flip may hit bytes that carry no meaning (the call's own id, a MessagePack length form):
    // then the very same signature comes back, which is no other than the honest one.
    const expected = await exchange(quorumSignerSocket(quorum.home), honest)
    const signature = signatureIn(expected)
    expect(signature).not.toBeNull()
    await fc.assert(
      fc.asyncProperty(
        fc.array(flip(honest.length), { minLength: 64, maxLength: 64 }),
        async (flips) => {
          const answers = await exchangeMany(
            quorumSignerSocket(quorum.home),
            flips.map(({ at, bit }) => flipped(honest, at, bit)),
          )
          for (const answer of answers) {
            const made = signatureIn(answer)
            if (made !== null) expect(made).toEqual(signature)
          }
        },
      ),
      { numRuns: Math.ceil(TAMPERED_RUNS / 64) },
    )
    await signed(quorum, requestOf(wallet, transfer(502)))
  })

  test('and no junk ends either domain', async () => {
    for (const path of [quorumSignerSocket(quorum.home), identityProviderSocket(quorum.home)]) {
      for (let run = 0; run < 200; run++) {
        await exchangeMany(path, [randomBytes(1 + (run % 90))])
      }
      // A length that promises more than a frame may hold.
      await raw(path, Buffer.from('ffffffff', 'hex'))
      // Lists within lists, deeper than any stack.
      await exchangeMany(path, [Buffer.alloc(100_000, 0x91)])
    }
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await signed(quorum, requestOf(wallet, transfer(503)))
  })
})

function flip(length: number) {
  return fc.record({ at: fc.nat(length - 1), bit: fc.nat(7) })
}

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const out = Buffer.from(bytes)
  out[at] = (out[at] ?? 0) ^ (1 << bit)
  return out
}

/** The 65 bytes of the first signature in an answer; null when there is none. */
function signatureIn(answer: unknown): Buffer | null {
  if (!Array.isArray(answer) || answer[1] !== 0 || !Array.isArray(answer[2])) return null
  const first: unknown = answer[2][0]
  return first instanceof Uint8Array && first.length === 65 ? Buffer.from(first) : null
}

async function exchange(path: string, body: Buffer): Promise<unknown> {
  return (await exchangeMany(path, [body]))[0]
}

/** Each body on one connection of its own; null where the peer closed it without an answer. */
async function exchangeMany(path: string, bodies: readonly Buffer[]): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const body of bodies) {
    const head = Buffer.alloc(4)
    head.writeUInt32BE(body.length)
    const reply = await raw(path, Buffer.concat([head, body]))
    answers.push(reply.length > 4 ? packr.unpack(reply.subarray(4)) : null)
  }
  return answers
}

/** Writes bytes, half-closes, and reads until the peer answers or hangs up. */
function raw(path: string, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let reply = Buffer.alloc(0)
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error('neither answered nor closed'))
    }, ANSWER_TIMEOUT_MS)
    socket.on('data', (chunk) => {
      reply = Buffer.concat([reply, chunk])
      if (reply.length >= 4 && reply.length >= 4 + reply.readUInt32BE(0)) socket.destroy()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(reply)
    })
    socket.end(bytes)
  })
}
