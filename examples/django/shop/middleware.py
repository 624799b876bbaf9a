"""The click cookie, set again by the server for Safari, and what templates need for the tracker's tag."""

import os


def keep_click(get_response):
    def middleware(request):
        response = get_response(request)
        click_id = request.COOKIES.get("svc_click_id")
        if click_id:
            how = {"domain": ".shop.example", "samesite": "Lax", "secure": request.is_secure()}
            response.set_cookie("svc_click_id", click_id, max_age=60 * 86400, **how)
        return response

    return middleware

def affiliate(request):
    """Give templates the service's URL and the program."""
    names = ("SERVICE_BASE_URL", "SERVICE_PROGRAM_ID")
    return {name.lower(): os.environ.get(name, "") for name in names}
