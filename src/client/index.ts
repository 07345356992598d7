/**
 * The package entry `countersign/client`: the clients, the webhook check and the error classes, so
 * that one import is enough. Each file can also be imported by its own path, such as
 * `countersign/client/errors`.
 */
export {
  type AgentMethods,
  type Client,
  type ClientOptions,
  type ConnectionOptions,
  type ConsoleClient,
  type ConsoleClientOptions,
  type ConsoleMethods,
  createClient,
  createConsoleClient,
  type SendOptions,
} from './client.js'
export {
  AddressBlockedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CountersignError,
  InvalidRequestError,
  LimitExceededError,
  NotFoundError,
  PermissionError,
  RateLimitedError,
  ServiceError,
  type ServiceErrorFields,
  UnavailableError,
  UnprocessableError,
  WaitTimeoutError,
  WebhookVerificationError,
} from './errors.js'
export type { CallOptions } from './request.js'
export type { Transfer } from './transfer.js'
export {
  type EventType,
  verifyWebhook,
  type WebhookDelivery,
  type WebhookEvent,
} from './verify-webhook.js'
export type { WaitOptions } from './wait-for-transaction.js'
