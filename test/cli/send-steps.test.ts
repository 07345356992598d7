import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { freePort } from '../../bench/free-port.js'
import type { ChainAccess } from '../../src/chains/access.js'
import { type Step, sendSteps } from '../../src/cli/operator/send-steps.js'
import { unexplainedNonces } from '../../src/custody-tools/audit/on-chain-nonces.js'
import type { AuditReport } from '../../src/custody-tools/audit/verify-evidence.js'
import { chainConfig } from '../support/chain-config.js'

const io = { env: {}, out: () => undefined, err: () => undefined, isInteractive: false }

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  )
  if (!(error instanceof Error)) throw new Error('nothing failed')
  return error.message
}

test('what is said of a node that does not answer holds nothing of the path of its URL', async () => {
  const url = `http://127.0.0.1:${await freePort()}/v2/a-secret-of-ours`
  const chain = { config: chainConfig(8453, { rpc_urls: [url] }) } as unknown as ChainAccess
  const account = privateKeyToAccount(generatePrivateKey())
  const signer = { kind: 'account', address: account.address, account } as const
  const to = account.address
  const step: Step = { what: 'pay', sender: 'anyone', to, data: '0x', value: 1n }
  const sent = await messageOf(sendSteps(io, chain, signer, [step]))
  expect(sent).toContain('HTTP request failed')
  expect(sent).not.toContain('a-secret')
  const asked = await messageOf(unexplainedNonces(url, { addresses: [] } as unknown as AuditReport))
  expect(asked).toContain('HTTP request failed')
  expect(asked).not.toContain('a-secret')
})
