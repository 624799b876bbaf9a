"use client";

import { useEffect, useRef } from "react";

/** A link to another domain of the shop, to which the visitor's click goes along. */
export function Decorated({ href }) {
  const reference = useRef(null);
  useEffect(() => {
    const link = reference.current;
    link.addEventListener("click", () => { link.href = window.svc.decorate(link.href); });
  }, []);
  return <a ref={reference} href={href}>Our checkout</a>;
}
