import type { AddressRule } from '../src/domain/address-rule.js'
import type { GivenDecision } from '../src/domain/approval.js'
import type { Freeze } from '../src/domain/freeze.js'
import type { WebhookEndpoint } from '../src/domain/webhook.js'
import type { UserBreaker } from '../src/policy/user-breakers.js'
import type {
  AuthorizerList,
  GrantOutcome,
  MemberOutcome,
  WalletCertificate,
} from '../src/service-custody/co-signer.js'
import type { AddressRulesCommand } from './address-rules/core/decide.js'
import type { WatcherCommand } from './chain-watcher/core/messages.js'
import type { CustodyCommand } from './custody/shell.js'
import type {
  FreezeAnswer,
  FreezeCommand,
  FreezesCommand,
  Lifted,
  UnfreezeCommand,
} from './freezes/core/messages.js'
import type { GasWalletCommand, Opened } from './gas-wallet/core/messages.js'
import type { KeyUseCommand } from './key-use/shell.js'
import type { QuotaCommand } from './quotas/core/decide.js'
import type { ActorAddress, Ask, AskResult, Tell } from './runtime/actor.js'
import type { SharePriceCommand } from './share-prices/shell.js'
import type { SubWalletProtocol } from './sub-wallet/protocol.js'
import type { UserBreakersCommand } from './user-breakers/core/decide.js'
import type { IncomingCommand, LogCommand } from './webhook-endpoint/core/commands.js'

/** The commands and answers of each kind of actor. */
interface Protocols {
  readonly 'sub-wallet': SubWalletProtocol
  readonly 'webhook-endpoint':
    | Ask<Exclude<IncomingCommand, LogCommand>, WebhookEndpoint>
    | Tell<Extract<LogCommand, { type: 'tick' | 'events-appended' }>>
  readonly 'address-rules': Ask<AddressRulesCommand, AddressRule>
  readonly quotas:
    | Ask<Extract<QuotaCommand, { type: 'reserve' }>, null>
    | Tell<Extract<QuotaCommand, { type: 'settle' | 'free' }>>
  readonly custody:
    | Ask<Extract<CustodyCommand, { type: 'create-wallet-key' }>, WalletCertificate>
    | Ask<Extract<CustodyCommand, { type: 'put-grant' }>, GrantOutcome>
    | Ask<Extract<CustodyCommand, { type: 'list-authorizers' }>, AuthorizerList>
    | Ask<Extract<CustodyCommand, { type: 'change-member' }>, MemberOutcome>
    | Ask<Extract<CustodyCommand, { type: 'approve-call' }>, GivenDecision>
  readonly freezes:
    | Ask<FreezeCommand, Freeze>
    | Ask<UnfreezeCommand, Lifted>
    | Ask<Extract<FreezesCommand, { type: 'await-freeze' }>, FreezeAnswer>
    | Tell<Extract<FreezesCommand, { type: 'load' }>>
  readonly 'user-breakers':
    | Ask<Extract<UserBreakersCommand, { type: 'set' }>, readonly UserBreaker[]>
    | Tell<Extract<UserBreakersCommand, { type: 'watched' }>>
  readonly 'key-use': Ask<KeyUseCommand, null>
  readonly 'share-prices': Tell<SharePriceCommand>
  readonly 'gas-wallet': Ask<Extract<GasWalletCommand, { type: 'open' }>, Opened>
  readonly 'chain-watcher': Tell<Extract<WatcherCommand, { type: 'start' }>>
}

type ProtocolOf<Address extends ActorAddress> = Protocols[Address['kind']]

/** Commands that actors of the kind answer. */
export type AskCommand<Address extends ActorAddress> = Asks<ProtocolOf<Address>>['command']

/** Commands that actors of the kind take. */
export type TellCommand<Address extends ActorAddress> = ProtocolOf<Address>['command']

type Asks<Protocol> =
  Protocol extends Ask<object, infer Reply> ? ([Reply] extends [never] ? never : Protocol) : never

/** The answer to a command; each command has one type of answer. */
export type ReplyTo<Address extends ActorAddress, Command> = ReplyIn<ProtocolOf<Address>, Command>

type ReplyIn<Protocol, Command> =
  Protocol extends Ask<infer Asked, infer Reply> ? (Command extends Asked ? Reply : never) : never

/** The way to send commands to actors from outside of them. */
export interface Actors {
  /** Refused with OVERLOADED, and nothing done, when too many callers wait. */
  ask<Address extends ActorAddress, Command extends AskCommand<Address>>(
    address: Address,
    command: Command,
  ): Promise<AskResult<ReplyTo<Address, Command>>>
  /** Arrives however many callers wait. */
  tell<Address extends ActorAddress>(address: Address, command: TellCommand<Address>): void
}
