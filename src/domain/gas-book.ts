import type { SubWalletId, UserId } from './ids.js'
import type { UsdMicros } from './money.js'
import { gasCounted, paidToday, type WalletGas } from './sponsored-gas.js'

/**
 * What the sub-wallets of each user count in the user's gas budget, on the thread on which all of
 * them live: a decision about one wallet sees what the others hold at that moment. Each wallet's
 * part is durable with the wallet; a user's wallets are read from the store when the user first
 * needs them.
 */
export interface GasBook {
  /** The use of all the user's wallets except this one. */
  ofOthers(userId: UserId, walletId: SubWalletId, nowMs: number): UsdMicros
  put(userId: UserId, walletId: SubWalletId, gas: WalletGas): void
}

interface UserGas {
  readonly wallets: Map<SubWalletId, WalletGas>
  heldMicros: UsdMicros
  /** The payments of wallets, by the UTC day in which they count. */
  readonly paidByDay: Map<number, UsdMicros>
}

export function createGasBook(
  stored: (userId: UserId) => Iterable<readonly [SubWalletId, WalletGas]>,
): GasBook {
  const users = new Map<UserId, UserGas>()

  function gasOf(userId: UserId): UserGas {
    const known = users.get(userId)
    if (known !== undefined) return known
    const read: UserGas = { wallets: new Map(), heldMicros: 0n, paidByDay: new Map() }
    for (const [walletId, gas] of stored(userId)) note(read, walletId, gas)
    users.set(userId, read)
    return read
  }

  return {
    ofOthers(userId, walletId, nowMs) {
      const { wallets, heldMicros, paidByDay } = gasOf(userId)
      let micros = heldMicros
      for (const [day, paid] of paidByDay) micros += paidToday({ day, micros: paid }, nowMs)
      const own = wallets.get(walletId)
      return own === undefined ? micros : micros - gasCounted(own, nowMs)
    },
    put: (userId, walletId, gas) => note(gasOf(userId), walletId, gas),
  }
}

function note(user: UserGas, walletId: SubWalletId, gas: WalletGas): void {
  const before = user.wallets.get(walletId)
  if (before !== undefined) add(user, before, -1n)
  add(user, gas, 1n)
  if (gas.heldMicros === 0n && gas.paid.micros === 0n) user.wallets.delete(walletId)
  else user.wallets.set(walletId, gas)
}

function add(user: UserGas, { paid, heldMicros }: WalletGas, sign: 1n | -1n): void {
  user.heldMicros += sign * heldMicros
  const { paidByDay } = user
  const micros = (paidByDay.get(paid.day) ?? 0n) + sign * paid.micros
  if (micros === 0n) paidByDay.delete(paid.day)
  else paidByDay.set(paid.day, micros)
}
