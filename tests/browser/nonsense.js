// What a page may call by mistake, a line each: none of it throws.
svc.signup()
svc.signup(null, null)
svc.signup(42)
svc.signup({toString: () => { throw new Error('mine') }})
svc.decorate('http://[')
svc.decorate({toString: () => { throw new Error('mine') }})
svc.decorate('mailto:jane@example.com')
svc.q.push(['nothing', []])
