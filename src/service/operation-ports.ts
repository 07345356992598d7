import { SHARE_PRICES_ADDRESS } from '../../actors/addresses.js'
import { RpcCallError } from '../chains/rpc/errors.js'
import type { Config } from '../config/env.js'
import { readSmtpFile } from '../config/smtp.js'
import { createContractReads } from '../defi/contract-reads.js'
import { createErc4626 } from '../defi/erc4626.js'
import { createQuoteBook } from '../defi/quote-book.js'
import { createSharePriceHistory } from '../defi/share-price-history.js'
import { createUniswapV3 } from '../defi/uniswap-v3.js'
import { createAnsweredSends } from '../operations/answered-sends.js'
import { createPendingGrants } from '../operations/console/pending-grants.js'
import type { OperationPorts } from '../operations/ports.js'
import { createMailer } from '../webhooks/mailer.js'
import { createInvitationMail } from './invitation-mail.js'

/** The ports that exist before operations do: the thread's own and what the start created. */
type Given = Pick<
  OperationPorts,
  | 'reader'
  | 'actors'
  | 'walletVersions'
  | 'chains'
  | 'prices'
  | 'quoter'
  | 'hasRouter'
  | 'screener'
  | 'screeningLists'
  | 'freezes'
  | 'members'
  | 'recordedApproval'
  | 'headOf'
  | 'readableSeq'
  | 'keyLastUsedAtMs'
  | 'forgetKey'
  | 'figures'
  | 'timers'
>

const isCallError = (error: unknown): error is RpcCallError => error instanceof RpcCallError

/** Adds the ports that only operations use to those of the start. */
export function openOperationPorts(given: Given, config: Config): OperationPorts {
  const { actors, timers } = given
  const smtp = config.smtpFile === null ? null : readSmtpFile(config.smtpFile)
  const contractReads = createContractReads(isCallError)
  const answeredSends = createAnsweredSends(given.reader)
  return {
    ...given,
    reader: answeredSends.reader,
    answeredSends,
    swapVenue: createUniswapV3(contractReads),
    vaultVenue: createErc4626(contractReads),
    sharePrices: createSharePriceHistory({
      stored: given.reader.markets.sharePrices(),
      store: (vaultKey, samples) =>
        actors.tell(SHARE_PRICES_ADDRESS, { type: 'share-prices-sampled', vaultKey, samples }),
    }),
    quotes: createQuoteBook(),
    pendingGrants: createPendingGrants(timers),
    environment: config.environment,
    quotas: config.quotas,
    webhookTargets: config.mode === 'dev' ? 'any' : 'public',
    mail: smtp,
    mailInvitation: createInvitationMail(
      smtp === null ? null : { ...smtp, mailer: createMailer(smtp) },
    ),
    nowMs: timers.now,
  }
}
