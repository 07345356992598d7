import type { SubWalletId, UserId } from '../domain/ids.js'
import { heldGasOf, type WalletGas } from '../domain/sponsored-gas.js'
import type { Reader } from './reader.js'

const NOTHING_PAID = { day: 0, micros: 0n }

/** What each sub-wallet of a user counts towards the gas budgets, as stored. */
export function* storedGasOf(
  reader: Reader,
  userId: UserId,
): Generator<readonly [SubWalletId, WalletGas]> {
  const now = reader.fresh()
  for (const id of now.wallets.idsOfUser(userId)) {
    // A wallet whose record is damaged makes no sponsored calls.
    const gas = now.ifSound(() => gasOf(now, id))
    if (gas !== undefined) yield [id, gas]
  }
}

function gasOf({ wallets, gas }: Reader, id: SubWalletId): WalletGas {
  const paid = wallets.header(id)?.sponsored?.gas ?? NOTHING_PAID
  let heldMicros = 0n
  for (const sponsorship of gas.sponsorshipsOf(id)) {
    heldMicros += heldGasOf(sponsorship.stage, sponsorship)
  }
  return { paid, heldMicros }
}
