import type { Command } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { ID_PREFIX, isId, ulidBytes } from '../../domain/ids.js'
import { type Wish, withAuthorization } from '../authorize.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord } from '../print.js'

interface What {
  readonly key?: string
  readonly wallet?: string
}

const KEY = ['--key <key_id>', 'this key, with those it succeeded and its successors'] as const
const WALLET = ['--wallet <sub_wallet_id>', 'this sub-wallet, with all its keys'] as const

export function register(program: Command, io: Io): void {
  program
    .command('freeze')
    .description('stop new signatures for a key, a sub-wallet or, with neither, your whole account')
    .option(...KEY)
    .option(...WALLET)
    .option('--reason <text>', 'shown with each refusal')
    .action(async (given: What & { readonly reason?: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { reason } = given
      const client = await consoleClient(io, options)
      const input = { ...targetOf(given), ...(reason === undefined ? {} : { reason }) }
      printRecord(io, options, await client.freeze(input))
    })
  program
    .command('unfreeze')
    .description('lift a freeze; needs one of your authorizers')
    .option(...KEY)
    .option(...WALLET)
    .action(async (given: What, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const target = targetOf(given)
      const { scope, id } = target
      const isWallet = scope === 'wallet' && isId(ID_PREFIX.subWallet, id ?? '')
      const wish: Wish = { scope, ...(isWallet ? { walletId: ulidBytes(id ?? '') } : {}) }
      const answer = await withAuthorization(io, 'unfreeze', wish, (authorization) =>
        client.unfreeze({ ...target, ...(authorization === undefined ? {} : { authorization }) }),
      )
      printRecord(io, options, answer)
    })
}

function targetOf({ key, wallet }: What): Pick<ConsoleInput<'freeze'>, 'scope' | 'id'> {
  if (key !== undefined && wallet !== undefined) {
    throw new UsageError('pass --key, --wallet, or neither')
  }
  if (key !== undefined) return { scope: 'key', id: key }
  return wallet === undefined ? { scope: 'user' } : { scope: 'wallet', id: wallet }
}
