import type { z } from 'zod'
import type { ErrorCode } from '../errors/catalogue.js'
import { revokeAllowancesInput, revokedAllowances } from './allowances.js'
import {
  approvalIdInput,
  approvalList,
  approvalRecord,
  approveCallInput,
  declineCallInput,
  listApprovalsInput,
} from './approvals.js'
import { policyVerdicts, testPolicyInput } from './call-policy.js'
import {
  apiKey,
  authorizerList,
  changedKey,
  createKeyInput,
  createWalletInput,
  deleted,
  freezeInput,
  frozenAnswer,
  issuedKey,
  keyIdInput,
  keyList,
  listInput,
  patchKeyInput,
  rotatedKey,
  subWallet,
  unfreezeInput,
  unfrozenAnswer,
  user,
  walletList,
} from './console.js'
import {
  addressRule,
  addressRuleList,
  auditPage,
  backtestInput,
  backtestResult,
  deleteAddressRuleInput,
  listAuditInput,
  putAddressRuleInput,
} from './console-records.js'
import {
  createdWebhook,
  createWebhookInput,
  deliveryList,
  eventPage,
  listDeliveriesInput,
  listEventsInput,
  patchWebhookInput,
  redelivered,
  redeliverInput,
  rotatedWebhook,
  testedWebhook,
  webhook,
  webhookIdInput,
  webhookList,
} from './console-webhooks.js'
import {
  cancelTransactionInput,
  listTransactionsInput,
  transactionList,
  transactionRecord,
} from './transaction.js'
import { setUserBreakersInput, userBreakers } from './user-breakers.js'
import { noInput } from './wallet.js'

/**
 * The console's routes: a user's own wallets, keys and webhooks, under a JWT of the identity
 * provider. Another user's things answer 404, as if they were not there.
 */
export interface ConsoleOperationRow {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly title: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  readonly errors: readonly ErrorCode[]
  /**
   * Takes an API key in `X-Api-Key` besides the token. Spec silent on how the console sends: the
   * quorum signs only on the proof of a live API key, which the console's token is not.
   */
  readonly presentsKey?: true
}

const KEY_ERRORS = ['NOT_FOUND', 'COSIGNER_UNAVAILABLE'] as const
const ENLARGEMENT_ERRORS = [
  'CHAIN_NOT_SUPPORTED',
  'AUTHORIZATION_REQUIRED',
  'AUTHORIZATION_REFUSED',
] as const

export const consoleOperations = [
  {
    name: 'get_user',
    method: 'GET',
    path: '/api/v1/agent/me',
    title: 'The signed-in user',
    input: noInput,
    output: user,
    errors: [],
  },
  {
    name: 'create_wallet',
    method: 'POST',
    path: '/api/v1/agent/wallets',
    title: 'Create a sub-wallet',
    input: createWalletInput,
    output: subWallet,
    errors: ['QUOTA_EXCEEDED', 'COSIGNER_UNAVAILABLE'],
  },
  {
    name: 'list_wallets',
    method: 'GET',
    path: '/api/v1/agent/wallets',
    title: 'List sub-wallets',
    input: listInput,
    output: walletList,
    errors: [],
  },
  {
    name: 'create_key',
    method: 'POST',
    path: '/api/v1/agent/keys',
    title: 'Issue an API key',
    input: createKeyInput,
    output: issuedKey,
    errors: ['QUOTA_EXCEEDED', ...ENLARGEMENT_ERRORS, ...KEY_ERRORS],
  },
  {
    name: 'list_keys',
    method: 'GET',
    path: '/api/v1/agent/keys',
    title: 'List API keys',
    input: listInput,
    output: keyList,
    errors: [],
  },
  {
    name: 'rotate_key',
    method: 'POST',
    path: '/api/v1/agent/keys/:key_id/rotate',
    title: 'Rotate an API key; the old one lives for 24 hours',
    input: keyIdInput,
    output: rotatedKey,
    errors: KEY_ERRORS,
  },
  {
    name: 'revoke_key',
    method: 'POST',
    path: '/api/v1/agent/keys/:key_id/revoke',
    title: 'Revoke an API key at once, for good',
    input: keyIdInput,
    output: apiKey,
    errors: KEY_ERRORS,
  },
  {
    name: 'patch_key',
    method: 'PATCH',
    path: '/api/v1/agent/keys/:key_id',
    title: 'Change name, caps or chains of an API key',
    input: patchKeyInput,
    output: changedKey,
    errors: [...ENLARGEMENT_ERRORS, ...KEY_ERRORS],
  },
  {
    name: 'freeze',
    method: 'POST',
    path: '/api/v1/agent/freeze',
    title: 'Stop everything new of a key, a sub-wallet or the user, at once',
    input: freezeInput,
    output: frozenAnswer,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'unfreeze',
    method: 'POST',
    path: '/api/v1/agent/unfreeze',
    title: 'Lift a freeze; an authorizer of the user has to confirm it',
    input: unfreezeInput,
    output: unfrozenAnswer,
    errors: ['AUTHORIZATION_REQUIRED', 'AUTHORIZATION_REFUSED', 'PERMISSION_DENIED', ...KEY_ERRORS],
  },
  {
    name: 'get_breakers',
    method: 'GET',
    path: '/api/v1/agent/breakers',
    title: 'What freezes the user by itself',
    input: noInput,
    output: userBreakers,
    errors: [],
  },
  {
    name: 'set_breakers',
    method: 'POST',
    path: '/api/v1/agent/breakers',
    title: 'Have the user frozen when its keys together behave unlike themselves',
    input: setUserBreakersInput,
    output: userBreakers,
    errors: [],
  },
  {
    name: 'list_authorizers',
    method: 'GET',
    path: '/api/v1/agent/authorizers',
    title: 'List the passkeys and P-256 keys that confirm your grants',
    input: noInput,
    output: authorizerList,
    errors: ['COSIGNER_UNAVAILABLE', 'AUTHORIZATION_REFUSED'],
  },
  {
    name: 'create_webhook',
    method: 'POST',
    path: '/api/v1/agent/webhooks',
    title: 'Register a webhook endpoint',
    input: createWebhookInput,
    output: createdWebhook,
    errors: ['QUOTA_EXCEEDED'],
  },
  {
    name: 'list_webhooks',
    method: 'GET',
    path: '/api/v1/agent/webhooks',
    title: 'List webhook endpoints',
    input: listInput,
    output: webhookList,
    errors: [],
  },
  {
    name: 'patch_webhook',
    method: 'PATCH',
    path: '/api/v1/agent/webhooks/:webhook_id',
    title: 'Change, disable or enable a webhook endpoint',
    input: patchWebhookInput,
    output: webhook,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'test_webhook',
    method: 'POST',
    path: '/api/v1/agent/webhooks/:webhook_id/test',
    title: 'Send a webhook.test event to a webhook endpoint',
    input: webhookIdInput,
    output: testedWebhook,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'rotate_webhook_secret',
    method: 'POST',
    path: '/api/v1/agent/webhooks/:webhook_id/rotate-secret',
    title: 'Rotate the signing secret of a webhook endpoint; both sign for 24 hours',
    input: webhookIdInput,
    output: rotatedWebhook,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'list_deliveries',
    method: 'GET',
    path: '/api/v1/agent/webhooks/:webhook_id/deliveries',
    title: 'List the deliveries of a webhook endpoint',
    input: listDeliveriesInput,
    output: deliveryList,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'redeliver_event',
    method: 'POST',
    path: '/api/v1/agent/events/:event_id/redeliver',
    title: 'Deliver an event again',
    input: redeliverInput,
    output: redelivered,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'list_events',
    method: 'GET',
    path: '/api/v1/agent/events',
    title: 'Read the event log without gaps, oldest first',
    input: listEventsInput,
    output: eventPage,
    errors: [],
  },
  {
    name: 'delete_webhook',
    method: 'DELETE',
    path: '/api/v1/agent/webhooks/:webhook_id',
    title: 'Remove a webhook endpoint',
    input: webhookIdInput,
    output: deleted,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'backtest_key',
    method: 'POST',
    path: '/api/v1/agent/keys/:key_id/backtest',
    title: 'See which past sends other caps would have refused',
    input: backtestInput,
    output: backtestResult,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'test_policy',
    method: 'POST',
    path: '/api/v1/agent/keys/:key_id/policy/test',
    title: 'See what a policy makes of calls; nothing is sent',
    input: testPolicyInput,
    output: policyVerdicts,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'list_audit',
    method: 'GET',
    path: '/api/v1/agent/audit',
    title: 'Read the audit trail',
    input: listAuditInput,
    output: auditPage,
    errors: [],
  },
  {
    name: 'put_address_rule',
    method: 'POST',
    path: '/api/v1/agent/address-rules',
    title: 'Block or allow an address',
    input: putAddressRuleInput,
    output: addressRule,
    errors: ['QUOTA_EXCEEDED'],
  },
  {
    name: 'list_address_rules',
    method: 'GET',
    path: '/api/v1/agent/address-rules',
    title: 'List the own address rules',
    input: listInput,
    output: addressRuleList,
    errors: [],
  },
  {
    name: 'delete_address_rule',
    method: 'DELETE',
    path: '/api/v1/agent/address-rules',
    title: 'Remove an address rule',
    input: deleteAddressRuleInput,
    output: deleted,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'revoke_allowances',
    method: 'POST',
    path: '/api/v1/agent/wallets/:sub_wallet_id/revoke-allowances',
    title: 'End all standing approvals of a sub-wallet; send a trade key of it along',
    input: revokeAllowancesInput,
    output: revokedAllowances,
    errors: [
      'UNAUTHENTICATED',
      'INVALID_KEY',
      'PERMISSION_DENIED',
      'FROZEN',
      'CHAIN_NOT_SUPPORTED',
      'NOT_FOUND',
    ],
    presentsKey: true,
  },
  {
    name: 'list_approvals',
    method: 'GET',
    path: '/api/v1/agent/approvals',
    title: 'List calls that wait for approval, or did',
    input: listApprovalsInput,
    output: approvalList,
    errors: [],
  },
  {
    name: 'get_approval',
    method: 'GET',
    path: '/api/v1/agent/approvals/:approval_id',
    title: 'One call that waits for approval, or did',
    input: approvalIdInput,
    output: approvalRecord,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'approve_call',
    method: 'POST',
    path: '/api/v1/agent/approvals/:approval_id/approve',
    title: 'Let a call through; an authorizer of the user has to confirm it',
    input: approveCallInput,
    output: approvalRecord,
    errors: ['AUTHORIZATION_REQUIRED', 'AUTHORIZATION_REFUSED', 'PERMISSION_DENIED', ...KEY_ERRORS],
  },
  {
    name: 'decline_call',
    method: 'POST',
    path: '/api/v1/agent/approvals/:approval_id/decline',
    title: 'End a call that waits for approval',
    input: declineCallInput,
    output: approvalRecord,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'list_transactions',
    method: 'GET',
    path: '/api/v1/agent/transactions',
    title: 'List transactions',
    input: listTransactionsInput,
    output: transactionList,
    errors: [],
  },
  {
    name: 'cancel_transaction',
    method: 'POST',
    path: '/api/v1/agent/transactions/:tx_id/cancel',
    title: 'Outbid a transaction that is not mined by sending nothing at its nonce',
    input: cancelTransactionInput,
    output: transactionRecord,
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly ConsoleOperationRow[]

export type ConsoleOperation = (typeof consoleOperations)[number]
export type ConsoleOperationName = ConsoleOperation['name']
export type ConsoleInput<N extends ConsoleOperationName> = z.infer<
  Extract<ConsoleOperation, { name: N }>['input']
>
export type ConsoleOutput<N extends ConsoleOperationName> = z.infer<
  Extract<ConsoleOperation, { name: N }>['output']
>
