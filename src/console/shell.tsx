import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link, Route, Switch, useLocation } from 'wouter-preact'
import { call } from './api.js'
import { LiveSign } from './live/live-sign.js'
import { useMay } from './members/roles.js'
import { ConfirmedAction } from './parts/confirmed-action.js'
import { FreezeButton } from './parts/freeze-button.js'
import { loadPagesWhenIdle } from './parts/lazy-page.js'
import { Page } from './parts/page.js'
import { PageGuard } from './parts/page-guard.js'
import { Ago } from './parts/times.js'
import { Wordmark } from './parts/wordmark.js'
import { useApprovals, useAuthorizers, useMe } from './queries.js'
import { PAGES } from './routes.js'
import { signOut, switchAccount } from './session/session.js'

/** The frame of all pages: navigation, the signed-in person, and the red button. */
export function Shell() {
  useEffect(loadPagesWhenIdle, [])
  const [location] = useLocation()
  return (
    <>
      <a class="skip" href="#content">
        Skip to the page
      </a>
      <TopBar />
      <div class="frame">
        <nav class="side" aria-label="Pages">
          <PageLinks />
        </nav>
        <main id="content" tabIndex={-1}>
          <FrozenBanner />
          <PageGuard key={location}>
            <Switch>
              {PAGES.map(({ path, component }) => (
                <Route key={path} path={path} component={component} />
              ))}
              <Route>
                <Page title="No such page">
                  <p>
                    Nothing is at this address. <Link href="/">Go to the overview</Link>.
                  </p>
                </Page>
              </Route>
            </Switch>
          </PageGuard>
        </main>
      </div>
    </>
  )
}

function TopBar() {
  const menu = useRef<HTMLElement>(null)
  const [location] = useLocation()
  useEffect(() => menu.current?.hidePopover(), [location])
  return (
    <header class="top">
      <button type="button" class="quiet icon menu-button" popovertarget="menu" aria-label="Pages">
        <svg viewBox="0 0 16 16" aria-hidden="true" class="glyph">
          <path d="M2 4.5h12M2 8h12M2 11.5h12" />
        </svg>
      </button>
      <nav ref={menu} id="menu" popover="auto" class="menu" aria-label="Pages, as a menu">
        <PageLinks />
      </nav>
      <Link href="/" class="home">
        <Wordmark />
      </Link>
      <div class="actions">
        <EnvironmentBadge />
        <LiveSign />
        <FreezeButton />
        <Account />
      </div>
    </header>
  )
}

/** Whether real money moves here; hidden until the service has told. */
function EnvironmentBadge() {
  const { data } = useMe()
  if (data === undefined) return null
  const isLive = data.environment === 'live'
  return (
    <span class={isLive ? 'pill ok' : 'pill'} data-environment={data.environment}>
      {isLive ? 'Live' : 'Test'}
      <span class="hidden"> environment</span>
    </span>
  )
}

function Account() {
  const me = useMe()
  const [isOpen, open] = useState(false)
  const passkeys = useAuthorizers(isOpen).data?.manage_url
  const own = me.data?.person_id
  const isShared = me.data !== undefined && me.data.user_id !== own
  const others = (me.data?.accounts ?? []).filter(
    ({ account_id }) => account_id !== me.data?.user_id,
  )
  return (
    <>
      <button type="button" class="quiet account-button" popovertarget="account">
        <span class="account-name">{me.data?.email ?? me.data?.user_id ?? 'Account'}</span>
      </button>
      <div
        id="account"
        popover="auto"
        class="menu account"
        onToggle={({ newState }) => open(newState === 'open')}
      >
        <p class="small mute">{me.data?.user_id}</p>
        {isShared && <p class="small mute">{me.data?.role} of this account</p>}
        {others.map(({ account_id, role }) => (
          <button
            key={account_id}
            type="button"
            class="quiet"
            onClick={() => void switchAccount(account_id === own ? null : account_id)}
          >
            {account_id === own ? 'To your own account' : `To ${account_id} (${role})`}
          </button>
        ))}
        {passkeys !== undefined && passkeys !== null && (
          <a href={passkeys} target="_blank" rel="noopener">
            Your passkeys
          </a>
        )}
        <a href="/docs">API reference</a>
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </>
  )
}

function PageLinks() {
  const waiting = useApprovals({ status: 'pending' })
  const count = waiting.data?.pages.flatMap(({ approvals }) => approvals).length ?? 0
  return (
    <ul>
      {PAGES.map(({ path, nav }) =>
        nav === null ? null : (
          <li key={path}>
            <PageLink path={path}>
              {nav}
              {path === '/approvals' && count > 0 && (
                <span class="count">
                  {count}
                  {waiting.hasNextPage && '+'}
                  <span class="hidden"> waiting</span>
                </span>
              )}
            </PageLink>
          </li>
        ),
      )}
    </ul>
  )
}

function PageLink(shown: { readonly path: string; readonly children: ComponentChildren }) {
  const [location] = useLocation()
  const { path } = shown
  const isHere = path === '/' ? location === '/' : location.startsWith(path)
  return (
    <Link href={path} {...(isHere ? { 'aria-current': 'page' as const } : {})}>
      {shown.children}
    </Link>
  )
}

function FrozenBanner() {
  const { data } = useMe()
  const isOwner = useMay('enlarge')
  if (!data?.frozen) return null
  const { since, reason, by } = data.frozen
  return (
    <section class="banner bad" aria-label="Frozen">
      <div>
        <strong>Everything is frozen.</strong> By {by === 'user' ? 'you' : `the ${by}`},{' '}
        <Ago at={since} />
        {reason === null ? '.' : `: ${reason}`}
      </div>
      {by !== 'operator' && isOwner && (
        <ConfirmedAction
          label="Unfreeze"
          title="Unfreeze everything?"
          act={(authorization) =>
            call('POST', '/api/v1/agent/unfreeze', {
              scope: 'user',
              ...(authorization === null ? {} : { authorization }),
            })
          }
        >
          <p>Your keys can send again, within their caps and policies.</p>
        </ConfirmedAction>
      )}
    </section>
  )
}
