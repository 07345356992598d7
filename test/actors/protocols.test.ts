import { expectTypeOf, test } from 'vitest'
import { type CUSTODY_ADDRESS, subWalletAddress } from '../../actors/addresses.js'
import type { Actors, AskCommand, ReplyTo, TellCommand } from '../../actors/protocols.js'
import type { AskResult } from '../../actors/runtime/actor.js'
import type { ClaimAnswer } from '../../actors/sub-wallet/core/grant-messages.js'
import type { EncodedSendReply } from '../../actors/sub-wallet/send-reply.js'
import type { KeyId, SubWalletId } from '../../src/domain/ids.js'
import type { WalletCertificate } from '../../src/service-custody/co-signer.js'
import { USER_ID, WALLET_ID } from './wallet-fixtures.js'

type Wallet = ReturnType<typeof subWalletAddress>
type Custody = typeof CUSTODY_ADDRESS

/** Held by the compiler, which `npm run check` runs over the tests. */
test('what an actor answers follows from what it is asked, and nothing else can be asked', () => {
  const asks: (AskCommand<Wallet> & { type: string })['type'][] = ['send', 'claim-grant']
  expectTypeOf(asks).not.toExtend<'load'[]>()
  expectTypeOf<{ type: 'send-money' }>().not.toExtend<AskCommand<Wallet>>()
  expectTypeOf<{ type: 'load' }>().not.toExtend<AskCommand<Wallet>>()
  expectTypeOf<{ type: 'load' }>().toExtend<TellCommand<Wallet>>()
  expectTypeOf<{ type: 'screened' }>().not.toExtend<TellCommand<Wallet>>()
  type Claim = Extract<AskCommand<Wallet>, { type: 'claim-grant' }>
  expectTypeOf<ReplyTo<Wallet, Claim>>().toEqualTypeOf<ClaimAnswer>()
  type Sponsor = Extract<AskCommand<Wallet>, { type: 'sponsor-call' }>
  expectTypeOf<ReplyTo<Wallet, Sponsor>>().toEqualTypeOf<EncodedSendReply>()
  type NewKey = { type: 'create-wallet-key'; subWalletId: SubWalletId; userId: string }
  expectTypeOf<ReplyTo<Custody, NewKey>>().toEqualTypeOf<WalletCertificate>()
  expectTypeOf<ReplyTo<Custody, Claim>>().toEqualTypeOf<never>()
  const ask = (actors: Actors) =>
    actors.ask(subWalletAddress({ subWalletId: WALLET_ID, userId: USER_ID }), {
      type: 'await-grant',
      keyId: 'key_1' as KeyId,
    })
  expectTypeOf(ask).returns.resolves.toEqualTypeOf<
    AskResult<{ readonly custody: 'current' | 'pending' }>
  >()
})
