import { toChecksumAddress } from '../../api/parse-address.js'
import { NATIVE_TOKEN } from '../../domain/chains.js'
import { fault } from '../../errors/fault.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

export function getBalance(ports: OperationPorts): AgentHandlers['get_balance'] {
  return ({ key }, input) => {
    const owner = ports.reader.wallets.byId(key.subWalletId)?.address
    if (owner === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    const token = toChecksumAddress(input.token)
    return answerFromChain(ports, input.chain_id, async ({ reads, config }) => {
      if (token === NATIVE_TOKEN) {
        const wei = await reads.nativeBalance(owner)
        return {
          ok: true,
          value: {
            chain_id: input.chain_id,
            token,
            balance: wei.toString(),
            decimals: 18,
            symbol: config.native_symbol,
          },
        }
      }
      const notAToken = {
        ok: false,
        fault: fault(
          'INVALID_REQUEST',
          { issues: [{ path: 'token', message: 'is not an ERC-20 token on this chain' }] },
          'This address is not an ERC-20 token on this chain.',
        ),
      } as const
      const [balance, metadata] = await Promise.all([
        reads.tokenBalance(token, owner),
        reads.tokenMetadata(token),
      ])
      if (balance === null || metadata === null) return notAToken
      return {
        ok: true,
        value: { chain_id: input.chain_id, token, balance: balance.toString(), ...metadata },
      }
    })
  }
}
