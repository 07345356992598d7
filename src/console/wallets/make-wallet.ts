import { call } from '../api.js'

/** A wallet of this name, to be created once. */
export interface WalletSubmission {
  readonly wallet: string
}

export function makeWallet({ wallet }: WalletSubmission, idempotencyKey: string) {
  const headers = { 'Idempotency-Key': idempotencyKey }
  return call('POST', '/api/v1/agent/wallets', { name: wallet }, headers)
}
