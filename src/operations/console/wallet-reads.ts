import { subWalletAddress } from '../../../actors/addresses.js'
import { CHAIN_IDS } from '../../domain/chains.js'
import type { UserId } from '../../domain/ids.js'
import type { SubWallet } from '../../domain/wallet.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import { gasView } from '../agent/gas-view.js'
import { readAllowances } from '../agent/get-allowances.js'
import { readNativeBalance } from '../agent/get-native-balance.js'
import { readPositions } from '../agent/get-positions.js'
import { readTokenBalances } from '../agent/get-token-balances.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedWallet } from './ownership.js'

/** Reads a sub-wallet for its owner as its agents do, on any chain, whatever its keys may use. */

export function getWalletBalances(ports: OperationPorts): ConsoleHandlers['get_wallet_balances'] {
  return async ({ userId }, { sub_wallet_id, chain_id }) => {
    const wallet = walletOn(ports, userId, sub_wallet_id, chain_id)
    if (!wallet.ok) return wallet
    const { address } = wallet.value
    const [native, tokens] = await Promise.all([
      readNativeBalance(ports, address, chain_id),
      readTokenBalances(ports, address, chain_id),
    ])
    if (!native.ok) return native
    if (!tokens.ok) return tokens
    const { balance, decimals, symbol } = native.value
    return ok({ chain_id, native: { balance, decimals, symbol }, tokens: tokens.value.tokens })
  }
}

export function getWalletPositions(ports: OperationPorts): ConsoleHandlers['get_wallet_positions'] {
  return ({ userId }, { sub_wallet_id, chain_id }) => {
    const wallet = walletOn(ports, userId, sub_wallet_id, chain_id)
    if (!wallet.ok) return wallet
    const chains = [...ports.chains.values()].filter(
      ({ config }) => chain_id === undefined || config.id === chain_id,
    )
    return readPositions(ports, wallet.value.address, chains)
  }
}

export function getWalletAllowances(
  ports: OperationPorts,
): ConsoleHandlers['get_wallet_allowances'] {
  return ({ userId }, { sub_wallet_id, chain_id }) => {
    const wallet = walletOn(ports, userId, sub_wallet_id, chain_id)
    return wallet.ok ? readAllowances(ports, wallet.value.address, chain_id) : wallet
  }
}

export function getWalletGas({
  reader,
  actors,
  nowMs,
}: OperationPorts): ConsoleHandlers['get_wallet_gas'] {
  return async ({ userId }, { sub_wallet_id }) => {
    const wallet = ownedWallet(reader, userId, sub_wallet_id)
    if (!wallet.ok) return wallet
    const now = nowMs()
    const command = { type: 'read-gas', nowMs: now } as const
    const read = ofRead(await actors.ask(subWalletAddress(wallet.value), command))
    return read.ok ? ok(gasView(read.value, now)) : read
  }
}

function walletOn(
  { reader, chains }: OperationPorts,
  userId: UserId,
  subWalletId: string,
  chainId: number | undefined,
): Result<SubWallet> {
  const owned = ownedWallet(reader, userId, subWalletId)
  if (!owned.ok || chainId === undefined || chains.has(chainId)) return owned
  const details = { chain_id: chainId, supported_chains: [...CHAIN_IDS] }
  return refuse(fault('CHAIN_NOT_SUPPORTED', details))
}
