// proxy.js (before Next.js 16: middleware.js, with a function named middleware)
import { NextResponse } from "next/server";

export function proxy(request) {
  const response = NextResponse.next();
  const clickId = request.cookies.get("svc_click_id")?.value;
  const secure = request.nextUrl.protocol === "https:";
  const how = { domain: ".shop.example", path: "/", sameSite: "lax", secure, maxAge: 60 * 86400 };
  if (clickId) response.cookies.set("svc_click_id", clickId, how);
  return response;
}
