import { createAccountSpend } from './console/account-spend.js'
import { deleteAddressRule, listAddressRules, putAddressRule } from './console/address-rules.js'
import { revokeAllowances } from './console/allowances.js'
import { approveCall, declineCall, getApproval, listApprovals } from './console/approvals.js'
import { listAudit } from './console/audit.js'
import { listAuthorizers } from './console/authorizers.js'
import { backtestKey } from './console/backtest.js'
import { cancelTransaction } from './console/cancel-transaction.js'
import { createdOnce } from './console/created-once.js'
import { listDeliveries, redeliverEvent } from './console/deliveries.js'
import { listEvents } from './console/events.js'
import { freeze, unfreeze } from './console/freezes.js'
import { createKey, keyCreation, listKeys, patchKey, revokeKey, rotateKey } from './console/keys.js'
import {
  acceptInvitation,
  changeMember,
  declineInvitation,
  inviteMember,
  leaveAccount,
  listMembers,
  removeMember,
} from './console/members.js'
import { freeing, withinQuota } from './console/quotas.js'
import { listRefusals } from './console/refusals.js'
import { checkAddress, listScreeningLists } from './console/screening-lists.js'
import { getServiceStatus } from './console/service-status.js'
import { getSpendTotals, listSpend } from './console/spend.js'
import { testPolicy } from './console/test-policy.js'
import { getTransaction } from './console/transaction-detail.js'
import { listTransactions } from './console/transactions.js'
import { getUser } from './console/user.js'
import { getUserBreakers, setUserBreakers } from './console/user-breakers.js'
import {
  getWalletAllowances,
  getWalletBalances,
  getWalletGas,
  getWalletPositions,
} from './console/wallet-reads.js'
import { createWallet, listWallets, walletCreation } from './console/wallets.js'
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  patchWebhook,
  rotateWebhookSecret,
  testWebhook,
  webhookCreation,
} from './console/webhooks.js'
import type { ConsoleHandlers } from './context.js'
import { readFresh } from './fresh-reads.js'
import type { OperationPorts } from './ports.js'

/** One handler per row of the console's table; a missing one does not compile. */
export function createConsoleHandlers(ports: OperationPorts): ConsoleHandlers {
  const accountSpend = createAccountSpend(ports)
  const handlers: ConsoleHandlers = {
    get_user: getUser(ports),
    list_members: listMembers(ports),
    invite_member: inviteMember(ports),
    change_member: changeMember(ports),
    remove_member: removeMember(ports),
    leave_account: leaveAccount(ports),
    accept_invitation: acceptInvitation(ports),
    decline_invitation: declineInvitation(ports),
    create_wallet: createdOnce(
      ports,
      walletCreation(ports),
      withinQuota(ports, 'wallets', createWallet(ports)),
    ),
    list_wallets: listWallets(ports),
    get_wallet_balances: getWalletBalances(ports),
    get_wallet_positions: getWalletPositions(ports),
    get_wallet_allowances: getWalletAllowances(ports),
    get_wallet_gas: getWalletGas(ports),
    create_key: createdOnce(
      ports,
      keyCreation(ports),
      withinQuota(ports, 'keys', createKey(ports)),
    ),
    list_keys: listKeys(ports),
    rotate_key: rotateKey(ports),
    revoke_key: freeing(ports, revokeKey(ports)),
    patch_key: patchKey(ports),
    freeze: freeze(ports),
    unfreeze: unfreeze(ports),
    get_breakers: getUserBreakers(ports),
    set_breakers: setUserBreakers(ports),
    list_authorizers: listAuthorizers(ports),
    backtest_key: backtestKey(ports),
    test_policy: testPolicy(ports),
    list_audit: listAudit(ports),
    put_address_rule: putAddressRule(ports),
    list_address_rules: listAddressRules(ports),
    delete_address_rule: deleteAddressRule(ports),
    list_screening_lists: listScreeningLists(ports),
    check_address: checkAddress(ports),
    create_webhook: createdOnce(
      ports,
      webhookCreation(ports),
      withinQuota(ports, 'webhooks', createWebhook(ports)),
    ),
    list_webhooks: listWebhooks(ports),
    patch_webhook: patchWebhook(ports),
    test_webhook: testWebhook(ports),
    rotate_webhook_secret: rotateWebhookSecret(ports),
    list_deliveries: listDeliveries(ports),
    redeliver_event: redeliverEvent(ports),
    list_events: listEvents(ports),
    delete_webhook: freeing(ports, deleteWebhook(ports)),
    revoke_allowances: revokeAllowances(ports),
    list_approvals: listApprovals(ports),
    get_approval: getApproval(ports),
    approve_call: approveCall(ports),
    decline_call: declineCall(ports),
    list_transactions: listTransactions(ports),
    get_transaction: getTransaction(ports),
    list_spend: listSpend({ ...ports, accountSpend }),
    get_spend_totals: getSpendTotals({ ...ports, accountSpend }),
    list_refusals: listRefusals(ports),
    get_service_status: getServiceStatus(ports),
    cancel_transaction: cancelTransaction(ports),
  }
  return readFresh(handlers, ports.reader)
}
