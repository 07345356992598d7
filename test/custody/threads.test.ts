import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'
import { countersignOk } from './command.js'
import { type Quorum, type ReadyWallet, readyWallet, startQuorum } from './harness.js'

const THREADS = 3
const SIGNATURES_PER_THREAD = 40

let quorum: Quorum
let wallets: ReadyWallet[]

beforeAll(async () => {
  quorum = await startQuorum()
  wallets = await Promise.all(Array.from({ length: THREADS }, () => readyWallet(quorum)))
})
afterAll(() => quorum?.close())

describe('several threads of the service', () => {
  test('sign at once, each over its own connection, and leave one whole evidence', async () => {
    const failures = await Promise.all(wallets.map((wallet) => signInThread(wallet)))
    expect(failures).toEqual(wallets.map(() => []))
    const stdout = await countersignOk(quorum.home, ['verify-audit'])
    expect(stdout).toContain(`${THREADS * SIGNATURES_PER_THREAD} approvals by both keys`)
    expect(stdout).toContain('✓ both logs are whole and agree')
  })
})

/** @returns what did not succeed, of many signatures asked for at once by a worker thread */
function signInThread(wallet: ReadyWallet): Promise<unknown[]> {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { randomBytes } = require('node:crypto')
    const path = require('node:path')
    Promise.all(['service-custody/connect-co-signer', 'clock/timers'].map((name) =>
        import(path.resolve('dist/src/' + name + '.js')))).then(async ([module, { systemTimers }]) => {
      const log = { info() {}, warn() {}, error() {} }
      const coSigner = await module.connectCoSigner({ ...workerData, mode: 'dev', log, timers: systemTimers() })
      await coSigner.whenReady(60000)
      const { walletId, keyId, proofKey } = workerData.wallet
      const outcomes = await Promise.all(Array.from({ length: workerData.count }, (_, nonce) =>
        coSigner.sign({
          walletId, keyId, proofKey, requestId: randomBytes(16), replaces: null,
          payload: {
            type: 'transaction', chainId: 8453, nonce, to: '0x3333333333333333333333333333333333333333',
            value: 1n, data: '0x', gasLimit: 21000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n,
          },
        })))
      await coSigner.close()
      parentPort.postMessage(outcomes.filter((outcome) => !outcome.ok))
    })`
  return new Promise((resolve, reject) => {
    const workerData = {
      home: quorum.home,
      boot: lastServiceBoot(quorum.home, systemTimers()),
      wallet,
      count: SIGNATURES_PER_THREAD,
    }
    const worker = new Worker(program, { eval: true, workerData })
    worker.on('message', resolve)
    worker.on('error', reject)
  })
}
